package record_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// sample is a full record of one contender.
func sample(runtime string) record.Record {
	p50, cpu, rss := 35.5, 0.25, int64(12<<20)
	return record.Record{
		Schema: record.Schema, RunID: "r1", Group: "g1", Round: 1, Order: 1, Attempt: 1,
		StartedAt: "2026-10-10T06:22:06Z", Status: record.OK,
		Cell: cell.Cell{Runtime: runtime, Execution: cell.Callback, IOModel: cell.Shared, Threads: 1,
			Protocol: "tcp", Payload: 1024, Clients: 16, Window: 16, Pattern: cell.Stream,
			Placement: cell.Split, LoadWait: cell.Busy, AddressFamily: cell.IPv4},
		Metrics: &record.Metrics{ElapsedSeconds: 1, RoundTrips: 10, RoundTripsPerSecond: 10,
			RTT: &record.RTT{P50: &p50, Max: 40, Mean: 36, Count: 10}, RTTHistogram: []byte{0, 1, 255}},
		Server:   &record.Process{PID: 7, CPUSeconds: &cpu, PeakRSSBytes: &rss},
		Errors:   map[string]int64{"content": 0},
		Validity: record.Validity{Verdict: "valid", Flags: []string{}, Reasons: []string{}},
	}
}

// create makes a store with its run.json in a new folder.
func create(t *testing.T) (*record.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "results", "a")
	s, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.WriteRun(&record.Run{Schema: record.Schema, RunID: "r1"}); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func trials(dir string) string { return filepath.Join(dir, "trials.jsonl") }

// add appends raw text to the trials file, past any store.
func add(t *testing.T, dir, text string) {
	t.Helper()
	f, err := os.OpenFile(trials(dir), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendAll(t *testing.T, s *record.Store, recs ...record.Record) {
	t.Helper()
	if err := s.Append(recs...); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, dir string) []record.Record {
	t.Helper()
	recs, err := record.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func TestAppendAndReadAll(t *testing.T) {
	s, dir := create(t)
	want := []record.Record{sample("rawpoll"), sample("netpoll"), sample("coroutine")}
	appendAll(t, s, want[0], want[1])
	appendAll(t, s, want[2])
	if got := readAll(t, dir); !reflect.DeepEqual(got, want) { // before Close: an interrupted run keeps them
		t.Errorf("ReadAll = %+v, want %+v", got, want)
	}
}

func TestOddTextSurvives(t *testing.T) {
	s, dir := create(t)
	r := sample("raw\u2028poll\u0085\x00")
	r.Reason = "a\nb</script>"
	r.Detail = strings.Repeat("panic: ", 200<<10/7)
	appendAll(t, s, r, sample("next"))
	got := readAll(t, dir)
	if len(got) != 2 || !reflect.DeepEqual(got[0], r) || got[1].Cell.Runtime != "next" {
		t.Errorf("%d records came back, want 2 equal ones", len(got))
	}
}

func TestTornLastLine(t *testing.T) {
	for name, torn := range map[string]string{
		"short":                   `{"schema":1,"ru`,
		"longer than a block":     `{"detail":"` + strings.Repeat("x", 200<<10),
		"whole but for a newline": `{"schema":1}`,
		"zeros after power loss":  "\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := create(t)
			appendAll(t, s, sample("a"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			add(t, dir, torn)
			if got := readAll(t, dir); len(got) != 1 {
				t.Fatalf("%d records before Open, want 1", len(got))
			}
			s, err := record.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			appendAll(t, s, sample("b"))
			if got := readAll(t, dir); len(got) != 2 || got[1].Cell.Runtime != "b" {
				t.Errorf("after Open and Append: %d records, want a and b", len(got))
			}
		})
	}
}

func TestOnlyATornLine(t *testing.T) {
	s, dir := create(t)
	_ = s.Close()
	add(t, dir, `{"schema"`)
	s, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if info, err := os.Stat(trials(dir)); err != nil || info.Size() != 0 {
		t.Errorf("trials file after Open: %v, %v, want it empty", info.Size(), err)
	}
}

func TestDamageInTheMiddle(t *testing.T) {
	s, dir := create(t)
	appendAll(t, s, sample("a"))
	info, err := os.Stat(trials(dir))
	if err != nil {
		t.Fatal(err)
	}
	first := info.Size()
	add(t, dir, "{\"schema\":1,#}\n")
	appendAll(t, s, sample("b"))
	add(t, dir, "\n{\"schema\":99}\n")

	recs, err := record.ReadAll(dir)
	if len(recs) != 2 || recs[1].Cell.Runtime != "b" {
		t.Errorf("%d records beside the damage, want 2", len(recs))
	}
	var damage *record.DamageError
	if !errors.As(err, &damage) || damage.Line != 2 || damage.Offset != first {
		t.Errorf("first damage %+v, want line 2 at byte %d", damage, first)
	}
	for _, want := range []string{trials(dir), "line 2", "line 4", "empty", "line 5", "schema 99"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %q", err, want)
		}
	}
}

func TestNonFiniteIsRefusedBeforeWriting(t *testing.T) {
	s, dir := create(t)
	bad := sample("bad")
	nan := math.NaN()
	bad.Metrics.RTT.P99 = &nan
	err := s.Append(sample("good"), bad)
	if err == nil || !strings.Contains(err.Error(), "metrics.rtt_us.p99") {
		t.Errorf("Append = %v, want an error naming metrics.rtt_us.p99", err)
	}
	inf := sample("inf")
	inf.Cell.Rate = math.Inf(1)
	if err := s.Append(inf); err == nil || !strings.Contains(err.Error(), "cell.rate") {
		t.Errorf("Append = %v, want an error naming cell.rate", err)
	}
	appendAll(t, s, sample("after"))
	if got := readAll(t, dir); len(got) != 1 || got[0].Cell.Runtime != "after" {
		t.Errorf("%d records on disk, want only the one after the refusals", len(got))
	}
}

func TestNothingMeasuredIsNull(t *testing.T) {
	s, dir := create(t)
	r := sample("empty")
	r.Metrics = &record.Metrics{RTT: &record.RTT{Count: 1, Max: 9, Mean: 9}}
	r.Server = &record.Process{}
	appendAll(t, s, r)
	got := readAll(t, dir)[0]
	if got.Metrics.RTT.P50 != nil || got.Server.CPUSeconds != nil || got.Server.PeakRSSBytes != nil {
		t.Errorf("what was not measured came back as %+v, %+v, want nil", got.Metrics.RTT, got.Server)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", trials(dir)); err != nil {
		t.Fatal(err)
	}
	s, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for range 2 { // the failure stays
		err := s.Append(sample("a"))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), trials(dir)) {
			t.Errorf("Append = %v, want no space left, naming %s", err, trials(dir))
		}
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	for _, dir := range []string{"/dev/full", "/proc/self/results"} {
		if s, err := record.Create(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("Create(%s) = %v, %v, want an error naming it", dir, s, err)
		}
	}
	if os.Getuid() == 0 {
		return // permissions do not bind root
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if s, err := record.Create(dir); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Create in a read-only folder = %v, %v, want a permission error", s, err)
	}
}

func TestOneRunAFolder(t *testing.T) {
	s, dir := create(t)
	if _, err := record.Open(dir); !errors.Is(err, record.ErrInUse) {
		t.Errorf("Open beside a writer: %v, want ErrInUse", err)
	}
	if _, err := record.Create(dir); !errors.Is(err, record.ErrInUse) {
		t.Errorf("Create beside a writer: %v, want ErrInUse", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Create(dir); !errors.Is(err, record.ErrExists) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Create where a run is: %v, want ErrExists naming %s", err, dir)
	}
	s, err := record.Open(dir)
	if err != nil {
		t.Fatalf("Open after Close: %v", err)
	}
	_ = s.Close()
}

func TestCreateAfterAStillbornRun(t *testing.T) {
	dir := t.TempDir()
	s, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close() // died before run.json
	if _, err := record.Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open without run.json: %v, want not exist", err)
	}
	s, err = record.Create(dir)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	_ = s.Close()
}

func TestRun(t *testing.T) {
	s, dir := create(t)
	cores := 8
	want := &record.Run{
		Schema: record.Schema, RunID: "r1", StartedAt: "2026-10-10T06:22:06Z", Command: "netmatrix run",
		Suite: "quick", Seed: math.MaxUint64, Rounds: 3, WarmupNanos: 250e6, MeasureNanos: 1e9,
		Baseline: cell.Contender{Runtime: "coroutine", Execution: cell.Goroutine},
		Matrix:   "version: 1\n# ü\n",
		Schedule: []record.Trial{
			{Order: 1, Round: 1, Group: "g1", Scenario: sample("").Cell.Scenario(), Contenders: []cell.Contender{{Runtime: "a", Execution: "callback"}, {Runtime: "b", Execution: "goroutine"}}},
			{Order: 2, Round: 1, Group: "g2", Contenders: []cell.Contender{{Runtime: "a", Execution: "callback"}}},
		},
		Environment: sysinfo.Facts{CPU: "x", LogicalCores: &cores, Warnings: []string{"w"}},
		Plugins:     []record.Plugin{{Name: "a", Path: "bin/a", SHA256: "00", Modules: map[string]string{"m": "v1"}}},
		CPUs:        record.CPUs{Server: []int{0}, Load: []int{1}},
	}
	if err := s.WriteRun(want); err != nil {
		t.Fatal(err)
	}
	got, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ReadRun = %+v, want %+v", got, want)
	}
	if got, want := got.Planned(), 3; got != want {
		t.Errorf("Planned() = %d, want %d", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v, %v", left, err)
	}
}

func TestReadRunRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := record.ReadRun(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without run.json: %v, want not exist", err)
	}
	for text, want := range map[string]string{
		`{"schema":`:    "damaged",
		`{"schema":99}`: "schema 99",
	} {
		if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := record.ReadRun(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadRun of %s: %v, want it to say %q", text, err, want)
		}
	}
}

func TestWriteFileKeepsTheOldOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.md")
	if err := record.WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("file holds %q, %v, want new", got, err)
	}
	blocked := filepath.Join(dir, "folder") // a folder cannot be replaced
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteFile(blocked, []byte("new")); err == nil || !strings.Contains(err.Error(), blocked) {
		t.Errorf("WriteFile over a folder = %v, want an error naming it", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("%d names in the folder, want report.md and folder only", len(names))
	}
}

func TestFieldNames(t *testing.T) {
	data, err := json.Marshal(sample("a"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"schema", "run_id", "group", "round", "order", "attempt", "started_at", "status",
		"cell", "metrics", "server", "errors", "validity", "provenance"} {
		if _, ok := m[name]; !ok {
			t.Errorf("a record has no field %q, which tools read", name)
		}
	}
}

func FuzzReadAll(f *testing.F) {
	good, err := json.Marshal(sample("a"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(good, '\n'))
	f.Add([]byte("{}\n\n\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(trials(dir), text, 0o600); err != nil {
			t.Fatal(err)
		}
		recs, err := record.ReadAll(dir)
		lines := strings.Count(string(text), "\n")
		if len(recs) > lines || (len(recs) == lines) != (err == nil) {
			t.Fatalf("%d records and error %v from %d lines", len(recs), err, lines)
		}
		var damage *record.DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("%v is no DamageError", err)
		}
	})
}
