package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/record"
)

// twinSuite is pairSuite with a twin: two trials with two contenders and a twin,
// and three of one each, in two rounds.
var twinSuite = strings.Replace(pairSuite, "    rounds: 2\n", "    rounds: 2\n    twin: true\n", 1)

// A twin is planned, measured, gone on with and shown as the noise floor, and
// stands in no row.
func TestRunWithTwin(t *testing.T) {
	w := newWorkspace(t, twinSuite)
	plan := w.netmatrix(t, "plan", "--suite", "pair")
	plan.expect(t, exitOK)
	if !strings.Contains(plan.stdout, "4 cells × 2 rounds in 8 trials") || !strings.Contains(plan.stdout, "a twin of coroutine/goroutine") {
		t.Errorf("the plan does not count the twin:\n%s", plan.stdout)
	}
	r := w.netmatrix(t, "run", "--suite", "pair", "--out", "out")
	r.expect(t, exitOK)
	dir := filepath.Join(w.dir, "out")
	twins := func() int {
		n := 0
		for _, rec := range checkRun(t, dir, 12) {
			if rec.Twin {
				n++
			}
		}
		return n
	}
	if n := twins(); n != 4 {
		t.Errorf("%d records of twins, want 4", n)
	}
	text := flat(r.stdout)
	if !regexp.MustCompile(`noise floor: throughput ±[0-9.]+ %, .*95 % of 4 rounds .*a twin of coroutine/goroutine`).MatchString(text) {
		t.Errorf("the report has no noise floor of four rounds:\n%s", r.stdout)
	}
	if !strings.Contains(text, "8 of 8 planned trials done") || strings.Count(text, "2 of 2 ok") != 4 {
		t.Errorf("the report does not count 8 trials, or has other than 4 rows of two rounds:\n%s", r.stdout)
	}
	if strings.Count(r.stderr, "(twin)") != 4 {
		t.Errorf("the progress does not tell four twins:\n%s", r.stderr)
	}

	// What is lost of a twin, and nothing else, is measured again.
	path := filepath.Join(dir, "trials.jsonl")
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept := regexp.MustCompile(`(?m)^.*"twin":true.*\n`).ReplaceAllString(string(lines), "")
	if err := os.WriteFile(path, []byte(kept), 0o644); err != nil {
		t.Fatal(err)
	}
	w.netmatrix(t, "resume", "out").expect(t, exitOK)
	if n := twins(); n != 4 {
		t.Errorf("%d records of twins after resume, want 4", n)
	}
	recs, err := record.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs[:8] {
		if rec.Twin {
			t.Error("resume has rewritten what was there")
		}
	}
}
