package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/record"
)

// Two builds are measured side by side, with a twin of the old one, into a run
// like any other.
func TestAB(t *testing.T) {
	w := newWorkspace(t, anySuite)
	r := w.netmatrix(t, "ab", "plugins/rawpoll", "plugins/rawpoll", "--rounds", "2", "--payload", "64", "--clients", "2", "--window", "2",
		"--warmup", "10ms", "--measure", "200ms", "--out", "out", "--delta", "2%")
	r.expect(t, exitOK)
	dir := filepath.Join(w.dir, "out")
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := record.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Suite != abSuite || run.Rounds != 2 || run.Delta != 0.02 || run.Planned() != 6 || len(run.Plugins) != 3 {
		t.Errorf("run.json: suite %s, %d rounds, delta %g, %d records planned, %d plugins; want ab, 2, 0.02, 6, 3",
			run.Suite, run.Rounds, run.Delta, run.Planned(), len(run.Plugins))
	}
	seen := map[string]int{}
	for _, rec := range recs {
		if rec.Cell.Payload != 64 || rec.Cell.Clients != 2 || rec.Cell.Execution != "callback" || rec.Status != record.OK {
			t.Errorf("%s is %s: %s", rec.Cell, rec.Status, rec.Reason)
		}
		if rec.Attempt == 1 {
			name := rec.Cell.Runtime
			if rec.Twin {
				name += " twin"
			}
			seen[name]++
		}
	}
	if seen["old"] != 2 || seen["new"] != 2 || seen["old twin"] != 2 {
		t.Errorf("records %v, want two rounds of old, new and a twin of old", seen)
	}
	for _, want := range []string{"against old/callback", "noise floor: throughput ±"} {
		if !strings.Contains(flat(r.stdout), want) {
			t.Errorf("the report does not say %q:\n%s", want, r.stdout)
		}
	}
	resumed := w.netmatrix(t, "resume", "out")
	resumed.expect(t, exitOK)
	if !strings.Contains(resumed.stderr, "nothing to do") {
		t.Errorf("a complete run of ab is gone on with: %s", resumed.stderr)
	}
}

func TestABMisuse(t *testing.T) {
	w := newWorkspace(t, anySuite)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"plugins/rawpoll"}, "takes two arguments"},
		{[]string{"plugins/rawpoll", "plugins/nothing"}, "no plugin at"},
		{[]string{"plugins/rawpoll", "plugins/rawpoll", "--payload", "1"}, "payload"},
		{[]string{"plugins/rawpoll", "plugins/rawpoll", "--delta", "0%"}, "delta"},
		{[]string{"plugins/rawpoll", "plugins/rawpoll", "--gate", "throughput=3%", "--rounds", "3"}, "take --rounds 7"},
	} {
		r := w.netmatrix(t, append([]string{"ab", "--out", "out"}, tt.args...)...)
		r.expect(t, exitUsage)
		if !strings.Contains(r.stderr, tt.says) || r.stdout != "" {
			t.Errorf("ab %v: stderr %q, stdout %q; want %q", tt.args, r.stderr, r.stdout, tt.says)
		}
	}
}
