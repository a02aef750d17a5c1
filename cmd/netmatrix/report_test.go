package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// storeRun makes a results folder with one good trial of each contender in each
// of two rounds.
func storeRun(t *testing.T, id, suite string, contenders ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	store, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	scenario := cell.Cell{IOModel: cell.Shared, Threads: 1, Protocol: "tcp", Payload: 1024, Clients: 16, Window: 16,
		Pattern: cell.Stream, Placement: cell.Split, LoadWait: cell.Busy, AddressFamily: cell.IPv4}
	r := &record.Run{Schema: record.Schema, RunID: id, Suite: suite, Contrast: "contender", Rounds: 2}
	var recs []record.Record
	for round := 1; round <= r.Rounds; round++ {
		trial := record.Trial{Order: round, Round: round, Group: "g", Scenario: scenario}
		for i, name := range contenders {
			k := cell.Contender{Runtime: name, Execution: cell.Callback}
			trial.Contenders = append(trial.Contenders, k)
			recs = append(recs, record.Record{Schema: record.Schema, RunID: id, Suite: suite, Group: "g", Round: round, Order: round, Attempt: 1,
				Status: record.OK, Cell: scenario.With(k), Metrics: &record.Metrics{RoundTripsPerSecond: float64(1000 * (i + 1))}})
		}
		r.Schedule = append(r.Schedule, trial)
	}
	if err := store.WriteRun(r); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(recs...); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReportFormats(t *testing.T) {
	dir := storeRun(t, "one", "quick", "a", "b")

	r := local("report", dir)
	r.expect(t, exitOK)
	if want := "netmatrix report " + dir + " --format md --out DIR\n"; !strings.HasSuffix(r.stdout, want) {
		t.Errorf("the text does not end with %q:\n%s", want, r.stdout)
	}

	r = local("report", dir, "--format", "csv")
	r.expect(t, exitOK)
	if lines, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll(); err != nil || len(lines) != 5 {
		t.Errorf("csv: %d lines, %v, want a head and 4 records", len(lines), err)
	}

	out := filepath.Join(t.TempDir(), "site")
	r = local("report", dir, "--format", "json,md,text,csv", "--out", out)
	r.expect(t, exitOK)
	if r.stdout != "" {
		t.Errorf("something goes to stdout beside the files: %s", r.stdout)
	}
	for _, name := range []string{"index.md", "tcp.md", "data.md", "report.txt", "records.csv", "summary.json"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or it is empty", name, err)
		}
	}
}

func TestReportKeepsOtherFiles(t *testing.T) {
	dir, out := storeRun(t, "one", "quick", "a", "b"), t.TempDir()
	for _, name := range []string{"index.md", "notes.md"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	local("report", dir, "--format", "md", "--out", out).expect(t, exitOK)
	if text, err := os.ReadFile(filepath.Join(out, "notes.md")); err != nil || string(text) != "mine" {
		t.Errorf("notes.md became %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "index.md")); err != nil || string(text) == "mine" {
		t.Errorf("index.md was not replaced: %v", err)
	}
}

func TestReportMergesDisjointRuns(t *testing.T) {
	one, two, out := storeRun(t, "one", "quick", "a"), storeRun(t, "two", "quick", "b"), t.TempDir()
	local("report", one, two, "--format", "md", "--out", out).expect(t, exitOK)
	page, err := os.ReadFile(filepath.Join(out, "tcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| a/callback, shared × 1 | 1,000", "| b/callback, shared × 1 | 1,000"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}

	same := storeRun(t, "three", "quick", "b")
	r := local("report", one, two, same)
	r.expect(t, exitUsage)
	if !strings.Contains(r.stderr, two) || !strings.Contains(r.stderr, same) || r.stdout != "" {
		t.Errorf("the refusal does not name both folders: %s", r.stderr)
	}
}

func TestReportMisuse(t *testing.T) {
	dir := storeRun(t, "one", "quick", "a")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"report", dir, "--format", "pdf"}, exitUsage, `"pdf" is none of text, md, csv, json`},
		{[]string{"report", dir, "--format", "md"}, exitUsage, "--out"},
		{[]string{"report", dir, "--format", "csv,json"}, exitUsage, "--out"},
		{[]string{"report", dir, "--format", ""}, exitUsage, "none is given"},
		{[]string{"report", dir, "--format", "md", "--out", file}, exitFailed, file},
	} {
		r := local(tt.args...)
		r.expect(t, tt.code)
		if !strings.Contains(r.stderr, tt.says) || r.stdout != "" {
			t.Errorf("%q: stderr %q, stdout %q, want %q on stderr", tt.args[2:], r.stderr, r.stdout, tt.says)
		}
	}
}
