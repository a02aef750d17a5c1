package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be meant costs nothing: exit code 2, a sentence that helps, nothing
// on stdout, and no process started.
func TestMisuse(t *testing.T) {
	w := newWorkspace(t, anySuite)
	started := filepath.Join(w.dir, "started")
	for _, p := range []string{"rawpoll", "coroutine"} {
		w.script(t, p, "echo "+p+" >>"+started+"; exit 1\n")
	}
	w.write(t, "broken.yaml", "version: 1\nbaseline: {runtime: a, execution: callback}\nload: {runtime: a}\nruntimes: {a: {plugin: x}}\nsuites:\n  s: {protocol: tcp, payload: 010}\n")
	w.write(t, "nofile.yaml", "version: 1\nruntimes:\n  rawpoll: {plugin: plugins/absent}\nbaseline: {runtime: rawpoll, execution: callback}\nload: {runtime: rawpoll}\nsuites:\n"+anySuite)
	bench := func(args ...string) []string { return append([]string{"bench", "--runtime", "rawpoll"}, args...) }
	for _, c := range []struct {
		args []string
		says []string // each in stderr
	}{
		{bench("--payload", "8"), []string{"payload", "16", "header"}},
		{bench("--payload", "2GiB"), []string{"--payload", "2GiB"}},
		{bench("--payload", "010"), []string{"--payload", "write 10"}},
		{bench("--payload", "70000", "--protocol", "udp"), []string{"70000", "udp", "65507"}},
		{bench("--payload", "1MiB", "--clients", "1000", "--window", "64"), []string{"256 MiB", "in flight"}},
		{bench("--threads", "0"), []string{"threads", "1 to"}},
		{bench("--clients", "-1"), []string{"clients", "1 to"}},
		{bench("--window", "many"), []string{"--window", "many", "--help"}},
		{bench("--execution", "foo"), []string{"execution", `"foo"`, "callback or goroutine"}},
		{bench("--protocol", "sctp"), []string{"protocol", "sctp", "websocket"}},
		{bench("--pattern", "batch", "--protocol", "udp"), []string{"batch", "tcp and tcps"}},
		{bench("--measure", "0"), []string{"--measure", "10ms"}},
		{bench("--measure", "50"), []string{"--measure", "unit"}},
		{bench("--warmup", "-1s"), []string{"--warmup"}},
		{bench("--check", "some"), []string{"--check", "sample", "all"}},
		{bench("--colour"), []string{"--colour", "--help"}},
		{bench("extra"), []string{"bench", "no arguments", `"extra"`}},
		{bench("-f", "absent.yaml"), []string{"absent.yaml", "no such file", "--file"}},
		{bench("-f", "broken.yaml"), []string{"broken.yaml:6:31: ", "010"}},
		{bench("-f", "nofile.yaml"), []string{"plugins/absent", "make build"}},
		{[]string{"bench"}, []string{"runtime", "--help"}},
		{[]string{"bench", "--runtime", "rawpol"}, []string{`"rawpol"`, `did you mean "rawpoll"?`}},
		{[]string{"bench", "--runtime", "rawpoll/foo"}, []string{"rawpoll/foo", "callback"}},
		{[]string{"bench", "--runtime", "rawpoll/"}, []string{"rawpoll/", "callback"}},
		{[]string{"run", "--suite", "amy"}, []string{`"amy"`, `did you mean "any"?`}},
		{[]string{"run", "--suite", "any", "--only", "payload"}, []string{"--only", "axis=value"}},
		{[]string{"run", "--suite", "any", "--only", "paylod=64"}, []string{"--only", `did you mean "payload"?`}},
		{[]string{"run", "--suite", "any", "--only", "payload=65"}, []string{"--only", "65", "64"}},
		{[]string{"run", "--suite", "any", "--rounds", "-1"}, []string{"--rounds", "1 to 1000"}},
		{[]string{"run", "-f", "broken.yaml"}, []string{"broken.yaml:6:31: ", "010"}},
		{[]string{"run", "--suite", "any", "-f", "nofile.yaml"}, []string{"plugins/absent", "make build"}},
		{[]string{"run", "--suite", "any", "quick"}, []string{"no arguments", `"quick"`}},
		{[]string{"plan", "--suite", "none"}, []string{`"none"`, "any"}},
		{[]string{"plan", "-f", "broken.yaml"}, []string{"broken.yaml:6:31: "}},
		{[]string{"runtimes", "-f", "absent.yaml"}, []string{"absent.yaml"}},
		{[]string{"report"}, []string{"one argument", "results folder"}},
		{[]string{"report", "absent"}, []string{"absent", "no run"}},
		{[]string{"resume", "absent"}, []string{"absent", "no run"}},
		{[]string{"resume", "a", "b"}, []string{"one argument"}},
		{[]string{"rum"}, []string{`"rum"`, "did you mean run?"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := w.netmatrix(t, c.args...)
			r.expect(t, exitUsage)
			if r.stdout != "" {
				t.Errorf("stdout: %q", r.stdout)
			}
			for _, want := range c.says {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("stderr does not say %q:\n%s", want, r.stderr)
				}
			}
			if !strings.HasPrefix(r.stderr, "netmatrix: ") || strings.Count(r.stderr, "\n") > 5 {
				t.Errorf("not one short message of netmatrix:\n%s", r.stderr)
			}
			if text, err := os.ReadFile(started); err == nil {
				t.Errorf("plugins were started: %s", text)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "results")); err == nil {
				t.Error("a results folder was made")
			}
		})
	}
}

// A cell that a runtime cannot run is no mistake: its record says unsupported and
// why, and so does the exit code.
func TestUnsupportedCells(t *testing.T) {
	w := newWorkspace(t, anySuite)
	for _, p := range w.plugins(t) {
		for _, l := range p.Lacks {
			if l.Axis == "load_wait" { // the load's affair
				continue
			}
			flag := benchAxes[l.Axis]
			t.Run(strings.Join([]string{p.Name, l.Axis, l.Value}, " "), func(t *testing.T) {
				args := []string{"bench", "--runtime", p.Name, "--threads", "2", "--measure", "50ms", "--warmup", "20ms", "--" + flag, l.Value}
				r := w.netmatrix(t, args...)
				r.expect(t, exitTrials)
				recs := decodeRecords(t, r.stdout)
				if len(recs) != 1 || recs[0].Status != "unsupported" || !strings.Contains(recs[0].Reason, l.Why) || recs[0].Metrics != nil {
					t.Fatalf("want one record without metrics, unsupported because %q:\n%s", l.Why, r.stdout)
				}
				if recs[0].Cell.Axis(l.Axis) != l.Value || !strings.Contains(r.stderr, l.Why) {
					t.Errorf("%s is %s, want %s; stderr: %s", l.Axis, recs[0].Cell.Axis(l.Axis), l.Value, r.stderr)
				}
				checkProvenance(t, recs[0])
			})
		}
	}
}
