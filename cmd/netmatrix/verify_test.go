package main

import (
	"bufio"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance/blackbox"
)

// findings is what verify prints as JSON, as a reader of it would see it.
type findings struct {
	Pass, Fail, Skipped int
	Path                string
	Notes               []string
	Chapters            []struct {
		Combination string
		Findings    []blackbox.Finding
	}
}

// Every plugin of the repository keeps the contract, on every protocol it
// carries.
func TestVerifyEveryPlugin(t *testing.T) {
	w := newWorkspace(t, anySuite)
	dir, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.plugins(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel() // much of it is waiting
			r := w.netmatrix(t, "verify", "--quick", "--format", "json", filepath.Join(dir, p.Name))
			var got findings
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatalf("%v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
			}
			tried := map[string]bool{}
			for _, c := range got.Chapters {
				name, _, _ := strings.Cut(c.Combination, " ")
				tried[name] = true
				for _, f := range c.Findings {
					if f.Verdict == blackbox.Fail {
						t.Errorf("%s: a plugin %s: %s\n%s", c.Combination, f.Sentence, f.Seen, f.Stderr)
					}
				}
			}
			for _, name := range append(p.Protocols, "plugin") {
				if !tried[name] {
					t.Errorf("%s was not tried", name)
				}
			}
			if got.Pass < len(blackbox.Rules()) || got.Skipped > 0 {
				t.Errorf("%d findings passed and %d were skipped", got.Pass, got.Skipped)
			}
			r.expect(t, exitOK)
		})
	}
}

// The text names each combination and each rule, and says what was seen.
func TestVerifyText(t *testing.T) {
	w := newWorkspace(t, anySuite)
	r := w.netmatrix(t, "verify", "--quick", "--rule", "Work", "--protocol", "tcp", "plugins/stdnet")
	r.expect(t, exitOK)
	for _, want := range []string{"plugin\n  pass    Starts       stdnet, net@go", "\ntcp callback-shared-1\n  pass    Serves ", "  pass    Work         256 results of 1000 operations are right\n", "\nstdnet conforms: ", " 0 failed"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the text does not say %q:\n%s", want, r.stdout)
		}
	}
	if !strings.Contains(r.stderr, "Verifying ") || strings.Contains(r.stdout, "Verifying ") {
		t.Error("the talk does not go to stderr alone")
	}
}

func TestVerifyBrokenPlugin(t *testing.T) {
	w := newWorkspace(t, anySuite)
	w.script(t, "broken", "echo no licence found >&2; echo Hello; exit 3\n")
	r := w.netmatrix(t, "verify", "plugins/broken")
	r.expect(t, exitConformance)
	for _, want := range []string{"  fail    Starts ", `"Hello"`, "no licence found", "(the rule: a plugin prints nothing before its handshake", "broken does NOT conform: 0 passed, 1 failed, 0 skipped"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the text does not say %q:\n%s", want, r.stdout)
		}
	}
	if !strings.Contains(r.stderr, "netmatrix: the plugin breaks the contract: 1 of 1 findings") {
		t.Errorf("stderr: %s", r.stderr)
	}
	r = w.netmatrix(t, "verify", "--format", "json", "plugins/broken")
	r.expect(t, exitConformance)
	var got findings
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	if got.Fail != 1 || len(got.Chapters) != 1 || got.Chapters[0].Combination != "plugin" || got.Chapters[0].Findings[0].Rule != "Starts" {
		t.Errorf("findings %+v, want rule Starts broken by the plugin", got)
	}
}

func TestVerifyMisuse(t *testing.T) {
	w := newWorkspace(t, anySuite)
	for _, c := range []struct {
		args []string
		says []string
	}{
		{nil, []string{"one argument", "the path of a plugin"}},
		{[]string{"plugins/stdnet", "plugins/rawpoll"}, []string{"one argument"}},
		{[]string{"plugins/absent"}, []string{"plugins/absent", "no such file"}},
		{[]string{"plugins"}, []string{"plugins is a folder"}},
		{[]string{"--rule", "Nonsense", "plugins/stdnet"}, []string{`"Nonsense"`, "Integrity"}},
		{[]string{"--protocol", "sctp", "plugins/stdnet"}, []string{`"sctp"`}},
		{[]string{"--format", "xml", "plugins/stdnet"}, []string{`"xml"`, "text", "json"}},
	} {
		r := w.netmatrix(t, append([]string{"verify"}, c.args...)...)
		r.expect(t, exitUsage)
		for _, want := range c.says {
			if !strings.Contains(r.stderr, want) || r.stdout != "" {
				t.Errorf("verify %q: stdout %q, stderr does not say %q: %s", c.args, r.stdout, want, r.stderr)
			}
		}
	}
}

// Ctrl-C ends a verification at once; that nothing is left, the workspace checks.
func TestVerifyInterrupted(t *testing.T) {
	w := newWorkspace(t, anySuite)
	c := w.command("verify", "plugins/rawpoll")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for line := ""; err == nil && !strings.Contains(line, "Serves"); {
		line, err = lines.ReadString('\n')
	}
	if err != nil {
		t.Errorf("stdout: %v", err)
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	await(t, c)
	if got := c.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
}

// The help lists every rule, and the root's every exit code.
func TestVerifyHelp(t *testing.T) {
	help := local("verify", "--help").stdout
	for _, r := range blackbox.Rules() {
		if !strings.Contains(help, r.Name+" ") || !strings.Contains(help, r.Sentence) {
			t.Errorf("the help does not say that a plugin %s (%s)", r.Sentence, r.Name)
		}
	}
	if !strings.Contains(local("--help").stdout, "4 a plugin breaks the") {
		t.Error("the root's help does not say what exit code 4 means")
	}
}
