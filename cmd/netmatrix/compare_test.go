package main

import (
	"strings"
	"testing"
)

// Two runs under the same conditions are compared; others are refused, with what
// differs, unless forced.
func TestCompare(t *testing.T) {
	w := newWorkspace(t, pairSuite+strings.NewReplacer("  pair:", "  longer:", "warmup: 10ms", "warmup: 20ms").Replace(pairSuite))
	run := func(suite, out string, more ...string) {
		w.netmatrix(t, append([]string{"run", "--suite", suite, "--rounds", "1", "--out", out}, more...)...).expect(t, exitOK)
	}
	run("pair", "a")
	run("pair", "b", "--only", "placement=split")
	run("longer", "c")
	r := w.netmatrix(t, "compare", "a", "b")
	r.expect(t, exitOK)
	for _, want := range []string{"the weak form", "the same builds in both", "rawpoll/callback tcp", "only before: "} {
		if !strings.Contains(flat(r.stdout), want) {
			t.Errorf("the page does not say %q:\n%s", want, r.stdout)
		}
	}
	r = w.netmatrix(t, "compare", "a", "c")
	r.expect(t, exitUsage)
	if !strings.Contains(r.stderr, "warm-up: 10ms in a, 20ms in c") || strings.Contains(r.stderr, "kernel:") || r.stdout != "" {
		t.Errorf("the refusal is %q, stdout %q", r.stderr, r.stdout)
	}
	r = w.netmatrix(t, "compare", "--force", "a", "c")
	r.expect(t, exitOK)
	if !strings.Contains(r.stdout, "FORCED") || !strings.Contains(r.stdout, "warm-up: 10ms → 20ms") {
		t.Errorf("the page does not say that it is forced:\n%s", r.stdout)
	}
	for _, args := range [][]string{{"compare", "a"}, {"compare", "a", "nowhere"}} {
		w.netmatrix(t, args...).expect(t, exitUsage)
	}
}
