package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// pairSuite has two scenarios, one split and one colocated, of two contenders
// and two rounds: six trials, eight records. They are measured for so long that
// even on a busy machine something comes back.
const pairSuite = `  pair:
    question: "does the product work?"
    contender:
      - {runtime: rawpoll, execution: callback}
      - {runtime: coroutine, execution: goroutine}
    protocol: tcp
    payload: 64
    where:
      - {placement: split, clients: 4, window: 4}
      - {placement: colocated, clients: 2, window: 2}
    rounds: 2
    warmup: 10ms
    measure: 500ms
`

// flat undoes the line breaks of a report.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestRun(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	w.env = []string{"TZ=Asia/Kathmandu"}
	r := w.netmatrix(t, "run", "--suite", "pair", "--out", "out/first", "--seed", "7")
	r.expect(t, exitOK)
	checkRun(t, filepath.Join(w.dir, "out/first"), 8)

	for _, want := range []string{"suite pair", "6 of 6 planned trials done", "rawpoll/callback", "coroutine/goroutine", "8, of them 8 ok", "split", "colocated"} {
		if !strings.Contains(flat(r.stdout), want) {
			t.Errorf("the table does not say %q:\n%s", want, r.stdout)
		}
	}
	if lines := regexp.MustCompile(`(?m)^[1-6]/6  round [12]  \S+/\S+ tcp .* \d+/s`).FindAllString(r.stderr, -1); len(lines) != 8 {
		t.Errorf("%d progress lines of records, want 8:\n%s", len(lines), r.stderr)
	}
	if n := strings.Count(r.stderr, "  ETA "); n < 5 {
		t.Errorf("%d lines say how long it will take, want one for each record but the last trial's:\n%s", n, r.stderr)
	}

	t.Run("report", func(t *testing.T) {
		again := w.netmatrix(t, "report", "out/first")
		again.expect(t, exitOK)
		if again.stdout != r.stdout || again.stderr != "" {
			t.Errorf("report differs from what run printed:\n%s\n%s\nstderr: %s", again.stdout, r.stdout, again.stderr)
		}
	})
	t.Run("the folder is taken", func(t *testing.T) {
		second := w.netmatrix(t, "run", "--suite", "pair", "--out", "out/first")
		second.expect(t, exitFailed)
		if !strings.Contains(second.stderr, "out/first") || !strings.Contains(second.stderr, "resume") || second.stdout != "" {
			t.Errorf("stderr does not name the folder and the remedy: %s", second.stderr)
		}
		checkRun(t, filepath.Join(w.dir, "out/first"), 8)
	})
	t.Run("nothing to resume", func(t *testing.T) {
		resumed := w.netmatrix(t, "resume", "out/first")
		resumed.expect(t, exitOK)
		if !strings.Contains(resumed.stderr, "nothing to do") || resumed.stdout != r.stdout {
			t.Errorf("stdout: %s\nstderr: %s", resumed.stdout, resumed.stderr)
		}
		checkRun(t, filepath.Join(w.dir, "out/first"), 8)
	})
	t.Run("part of a suite", func(t *testing.T) {
		part := w.netmatrix(t, "run", "--suite", "pair", "--only", "placement=split,contender=rawpoll/callback", "--rounds", "1", "--out", "out/part")
		part.expect(t, exitOK)
		recs := checkRun(t, filepath.Join(w.dir, "out/part"), 1)
		if recs[0].Cell.Placement != cell.Split || recs[0].Cell.Runtime != "rawpoll" {
			t.Errorf("measured %s", recs[0].Cell)
		}
	})
}

// checkRun holds a complete results folder to its schedule: each record once,
// all of them good.
func checkRun(t testing.TB, dir string, planned int) []record.Record {
	t.Helper()
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	recs := decodeRecords(t, string(text))
	if run.Planned() != planned {
		t.Errorf("%d records are planned, want %d", run.Planned(), planned)
	}
	checkOnce(t, run, recs)
	for _, r := range recs {
		checkMeasured(t, r, r.Cell)
	}
	checkRunFile(t, run)
	return recs
}

// slot is the place of a record in a schedule.
type slot struct {
	group string
	cell  cell.Cell
	twin  bool
}

// checkOnce wants every scheduled record exactly once, and no other.
func checkOnce(t testing.TB, run *record.Run, recs []record.Record) {
	t.Helper()
	missing := make(map[slot]record.Trial)
	for _, tr := range run.Schedule {
		for _, c := range tr.Contenders {
			missing[slot{tr.Group, tr.Scenario.With(c), false}] = tr
		}
		if tr.Twin != (cell.Contender{}) {
			missing[slot{tr.Group, tr.Scenario.With(tr.Twin), true}] = tr
		}
	}
	if len(missing) != run.Planned() {
		t.Errorf("the schedule holds %d records, %d of them different", run.Planned(), len(missing))
	}
	for _, r := range recs {
		s := slot{r.Group, r.Cell, r.Twin}
		tr, ok := missing[s]
		if !ok {
			t.Errorf("a record too many: %s %s", r.Group, r.Cell)
			continue
		}
		delete(missing, s)
		if r.RunID != run.RunID || r.Suite != run.Suite || r.Order != tr.Order || r.Round != tr.Round {
			t.Errorf("%s: run %s, suite %s, order %d, round %d; the schedule has %+v", r.Cell, r.RunID, r.Suite, r.Order, r.Round, tr)
		}
	}
	for s := range missing {
		t.Errorf("no record of %s %s", s.group, s.cell)
	}
}

func checkRunFile(t testing.TB, run *record.Run) {
	t.Helper()
	checkUTC(t, run.StartedAt)
	e := run.Environment
	if run.RunID == "" || !strings.HasPrefix(run.Command, "netmatrix run ") || run.Contrast == "" || run.Primary == "" || run.Seed == 0 || !strings.Contains(run.Matrix, "suites:") {
		t.Errorf("run.json is incomplete: id %q, command %q, contrast %q, primary %q, seed %d", run.RunID, run.Command, run.Contrast, run.Primary, run.Seed)
	}
	if e.OS == "" || e.Kernel == "" || e.Architecture == "" {
		t.Errorf("run.json does not name the machine: %+v", e)
	}
	for _, p := range run.Plugins {
		if !sha256Hex.MatchString(p.SHA256) || !filepath.IsAbs(p.Path) || p.Version == "" {
			t.Errorf("run.json: plugin %+v is incomplete", p)
		}
	}
}

// A run without --out goes to a folder named for its suite and moves aside where
// that is taken.
func TestRunMovesAside(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	for range 2 {
		w.netmatrix(t, "run", "--suite", "pair", "--rounds", "1").expect(t, exitOK)
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		checkRun(t, filepath.Join(w.dir, "results", e.Name()), 4)
	}
	if len(names) != 2 || names[0] != "pair" || !regexp.MustCompile(`^pair-\d{8}-\d{6}$`).MatchString(names[1]) {
		t.Errorf("folders %v, want pair and pair with the time", names)
	}
}

// A plugin that cannot work costs its own records: the others are measured, the
// failures stand in the table with their reasons, and the exit code says so.
func TestRunWithFaultyPlugin(t *testing.T) {
	for _, c := range []struct{ name, script, says string }{
		{"exits", "echo 'no licence' >&2; exit 7\n", "no licence"},
		{"prints", "echo Welcome; exec sleep 60\n", "Welcome"},
		{"no program", "", "permission"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t, pairSuite)
			w.script(t, "coroutine", c.script)
			if c.script == "" {
				if err := os.Chmod(filepath.Join(w.dir, "plugins/coroutine"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := w.netmatrix(t, "run", "--suite", "pair", "--out", "out")
			r.expect(t, exitTrials)
			run, err := record.ReadRun(filepath.Join(w.dir, "out"))
			if err != nil {
				t.Fatal(err)
			}
			recs, err := record.ReadAll(filepath.Join(w.dir, "out"))
			if err != nil {
				t.Fatal(err)
			}
			checkOnce(t, run, recs)
			for _, rec := range recs {
				switch rec.Cell.Runtime {
				case "rawpoll":
					checkMeasured(t, rec, rec.Cell)
				case "coroutine":
					if rec.Status != record.Failed || !strings.Contains(rec.Reason, c.says) {
						t.Errorf("%s: status %s, reason %q, want one that says %q", rec.Cell, rec.Status, rec.Reason, c.says)
					}
				}
			}
			for _, want := range []string{"4 failed", "coroutine/goroutine", c.says} {
				if !strings.Contains(flat(r.stdout), want) {
					t.Errorf("the table does not say %q:\n%s", want, r.stdout)
				}
			}
			if !strings.Contains(r.stderr, "4 failed") || !strings.Contains(r.stderr, "warning: plugin coroutine") {
				t.Errorf("stderr does not tell of the failures:\n%s", r.stderr)
			}
			info := w.netmatrix(t, "runtimes", "--json")
			info.expect(t, exitTrials)
			var list []pluginInfo
			if err := json.Unmarshal([]byte(info.stdout), &list); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list, func(p pluginInfo) bool { return p.Name == "coroutine" })
			if i < 0 || !strings.Contains(list[i].Error, c.says) {
				t.Errorf("runtimes does not say what is wrong: %s", info.stdout)
			}
		})
	}
}

// A cell that a runtime cannot run is shown, and is nothing gone wrong.
func TestRunWithUnsupportedCells(t *testing.T) {
	w := newWorkspace(t, `  sharded:
    contender: [{runtime: rawpoll, execution: callback}, {runtime: coroutine, execution: goroutine}]
    io: [{io_model: sharded, threads: 2}]
    protocol: tcp
    payload: 64
    clients: 2
    window: 2
    placement: [split, colocated]
    rounds: 1
    warmup: 10ms
    measure: 500ms
`)
	r := w.netmatrix(t, "run", "--suite", "sharded", "--out", "out")
	r.expect(t, exitOK)
	recs, err := record.ReadAll(filepath.Join(w.dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if n := statuses(recs); n[record.OK] != 2 || n[record.Unsupported] != 2 || len(recs) != 4 {
		t.Errorf("statuses %v, want 2 ok and 2 unsupported", n)
	}
	if !strings.Contains(flat(r.stdout), "one runtime poller for the whole process") {
		t.Errorf("the table does not say why:\n%s", r.stdout)
	}
	plan := w.netmatrix(t, "plan", "--suite", "sharded")
	plan.expect(t, exitOK)
	if strings.Count(plan.stdout, "unsupported: ") != 2 {
		t.Errorf("the plan does not show the cells that cannot be run:\n%s", plan.stdout)
	}
}

// Where results cannot be kept, nothing is measured and the place is named.
func TestRunIntoImpossiblePlace(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	w.write(t, "file", "something else\n")
	for _, out := range []string{"/dev/full", "file"} {
		r := w.netmatrix(t, "run", "--suite", "pair", "--out", out)
		r.expect(t, exitFailed)
		if !strings.Contains(r.stderr, out) || r.stdout != "" || strings.Contains(r.stderr, "/s  p50") {
			t.Errorf("--out %s: stdout %q, stderr %q", out, r.stdout, r.stderr)
		}
	}
}

// A run is gone on with from any folder, by its own matrix, and not after a
// plugin was built anew.
func TestResumeFromElsewhere(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	w.netmatrix(t, "run", "--suite", "pair", "--out", "out").expect(t, exitOK)
	out := filepath.Join(w.dir, "out")
	trials := filepath.Join(out, "trials.jsonl")
	text, err := os.ReadFile(trials)
	if err != nil {
		t.Fatal(err)
	}
	// What a killed writer leaves: some lines, and half of one.
	lines := strings.SplitAfter(string(text), "\n")
	half := strings.Join(lines[:3], "") + lines[3][:len(lines[3])/2]
	if err := os.WriteFile(trials, []byte(half), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.dir, "matrix.yaml")); err != nil {
		t.Fatal(err)
	}
	c := w.command("resume", out)
	c.Dir = os.TempDir()
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	checkRun(t, out, 8)

	if err := os.WriteFile(trials, []byte(half), 0o644); err != nil {
		t.Fatal(err)
	}
	w.script(t, "coroutine", "exit 1\n")
	r := w.netmatrix(t, "resume", out)
	r.expect(t, exitFailed)
	if !strings.Contains(r.stderr, "plugin coroutine was rebuilt") || r.stdout != "" {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
}
