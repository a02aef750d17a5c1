package blackbox_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance/blackbox"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/all"
)

func TestMain(m *testing.M) {
	if f, ok := faults[filepath.Base(os.Args[0])]; ok {
		serve(f)
		return
	}
	os.Exit(m.Run())
}

// plugin is the test binary under a name of faults, and a host to start it.
func plugin(t *testing.T, name string) (*goplugin.Host, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bb") // not t.TempDir: a unix socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	host, err := goplugin.NewHost(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(host.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return host, path
}

func verify(t *testing.T, name string, cfg blackbox.Config) *blackbox.Report {
	t.Helper()
	host, path := plugin(t, name)
	cfg.Quick = true
	if cfg.Protocols == nil {
		cfg.Protocols = all.Protocols()
	}
	report, err := blackbox.Verify(t.Context(), host, path, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// broken are the findings of a report that failed.
func broken(r *blackbox.Report) (list []blackbox.Finding) {
	for _, c := range r.Chapters {
		for _, f := range c.Findings {
			if f.Verdict == blackbox.Fail {
				list = append(list, f)
			}
		}
	}
	return list
}

// A good plugin passes on every protocol, and every rule is tried.
func TestGoodPluginPasses(t *testing.T) {
	report := verify(t, "good", blackbox.Config{})
	for _, f := range broken(report) {
		t.Errorf("%s: %s", f.Rule, f.Seen)
	}
	tried := map[string]bool{}
	protocols := map[string]bool{}
	for _, c := range report.Chapters {
		protocols[c.Combination.Protocol] = true
		for _, f := range c.Findings {
			if f.Verdict == blackbox.Pass {
				tried[f.Rule] = true
			}
		}
	}
	for _, r := range blackbox.Rules() {
		if !tried[r.Name] {
			t.Errorf("rule %s was not tried", r.Name)
		}
	}
	for _, p := range all.Protocols() {
		if !protocols[p.Name] {
			t.Errorf("%s was not tried", p.Name)
		}
	}
}

// Each fault is found by the rule that is about it, in words that say it.
func TestFaultsAreFound(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		f := faults[name]
		if f.caughtBy == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of them wait
			only := f.protocol
			if only == "" {
				only = "tcp"
			}
			report := verify(t, name, blackbox.Config{Rules: []string{f.caughtBy}, Only: []string{only}})
			found := broken(report)
			if len(found) != 1 {
				t.Fatalf("%d findings failed, want 1: %+v", len(found), found)
			}
			if got := found[0]; got.Rule != f.caughtBy || !strings.Contains(got.Seen, f.says) {
				t.Errorf("%s: %s; want it found by %s, saying %q", got.Rule, got.Seen, f.caughtBy, f.says)
			}
		})
	}
}

func TestEveryRuleHasAFault(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range blackbox.Rules() {
		if seen[r.Name] || r.Sentence == "" {
			t.Errorf("rule %q is named twice or says nothing", r.Name)
		}
		seen[r.Name] = true
	}
	for _, f := range faults {
		delete(seen, f.caughtBy)
	}
	for name := range seen {
		if name != "Sizes" { // what breaks it breaks Integrity too
			t.Errorf("no fault is found by rule %s", name)
		}
	}
}

// A combination that does not work costs its own rules, and the rest goes on.
func TestOneBrokenCombination(t *testing.T) {
	report := verify(t, "not-sharded", blackbox.Config{Rules: []string{"Work"}, Only: []string{"tcp"}})
	got := map[string]string{}
	for _, c := range report.Chapters {
		for _, f := range c.Findings {
			if f.Rule == "Work" {
				got[c.Combination.Variant.String()] = f.Verdict
			}
		}
	}
	want := map[string]string{"callback-shared-1": blackbox.Pass, "callback-shared-2": blackbox.Pass, "callback-sharded-2": blackbox.Skipped}
	if !maps.Equal(got, want) {
		t.Errorf("rule Work: %v, want %v", got, want)
	}
}

func TestProtocolOfAnotherBuildIsANote(t *testing.T) {
	tcp := slices.DeleteFunc(all.Protocols(), func(p protocol.Protocol) bool { return p.Name != "tcp" })
	report := verify(t, "good", blackbox.Config{Protocols: tcp, Rules: []string{"Serves"}})
	if len(report.Notes) == 0 || !strings.Contains(report.Notes[0], "cannot talk") {
		t.Errorf("notes %q do not say that protocols were not tried", report.Notes)
	}
	if n := report.Count(blackbox.Fail); n > 0 {
		t.Errorf("%d findings failed", n)
	}
}

func TestProtocolNotCarriedIsANote(t *testing.T) {
	report := verify(t, "lacks-udp", blackbox.Config{Rules: []string{"Serves"}, Only: []string{"udp"}})
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "does not carry udp") {
		t.Errorf("notes %q do not say that udp was not tried", report.Notes)
	}
}

func TestValidate(t *testing.T) {
	for _, cfg := range []blackbox.Config{
		{Rules: []string{"Nonsense"}},
		{Protocols: all.Protocols(), Only: []string{"carrier pigeon"}},
	} {
		if err := cfg.Validate(); err == nil {
			t.Errorf("%v passes", cfg)
		}
	}
}

// An interruption ends the suite soon, whatever the plugin does.
func TestInterrupted(t *testing.T) {
	host, path := plugin(t, "hangs-in-prepare")
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	_, err := blackbox.Verify(ctx, host, path, blackbox.Config{Protocols: all.Protocols()}, func(_ blackbox.Combination, f blackbox.Finding) {
		if f.Rule == "Starts" {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	})
	cancel()
	if !errors.Is(err, context.Canceled) || errors.Is(err, control.ErrPluginGone) {
		t.Errorf("Verify = %v, want it cancelled", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it went on for %v", took)
	}
}
