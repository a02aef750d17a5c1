package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestRuntimes(t *testing.T) {
	w := newWorkspace(t, anySuite)
	r := w.netmatrix(t, "runtimes")
	r.expect(t, exitOK)
	list := w.plugins(t)
	if len(list) < 2 {
		t.Fatalf("%d plugins", len(list))
	}
	for _, p := range list {
		if !sha256Hex.MatchString(p.SHA256) || p.Source != testSource || p.Version == "" || !strings.HasPrefix(p.GoVersion, "go") ||
			len(p.Roles) == 0 || len(p.Protocols) == 0 || len(p.Models) == 0 || len(p.Modules) == 0 || p.Stack["event_loop"] == "" {
			t.Errorf("plugin %s is described incompletely: %+v", p.Name, p)
		}
		for _, want := range []string{p.Name + "  " + p.Path, p.SHA256, p.Version, strings.Join(p.Protocols, " ")} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("the text does not say %q of %s", want, p.Name)
			}
		}
		for _, l := range p.Lacks {
			if !strings.Contains(r.stdout, l.Axis+" "+l.Value+": "+l.Why) {
				t.Errorf("the text does not say that %s lacks %+v", p.Name, l)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	r := w.netmatrix(t, "plan", "--suite", "pair")
	r.expect(t, exitOK)
	for _, want := range []string{"suite pair: does the product work?", "4 cells × 2 rounds in 6 trials, about ", "rawpoll/callback tcp 64B 4×4 shared×1", "colocated"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the plan does not say %q:\n%s", want, r.stdout)
		}
	}
	if _, err := os.Stat(w.dir + "/results"); err == nil {
		t.Error("plan made a results folder")
	}
}

// The matrix of the repository: every suite can be planned.
func TestPlanRealMatrix(t *testing.T) {
	w := newWorkspace(t, anySuite)
	text, err := os.ReadFile("../../matrix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "matrix.yaml", strings.ReplaceAll(string(text), "bin/plugins/", "plugins/"))
	suites := regexp.MustCompile(`(?m)^  ([a-z]+):\n    question:`).FindAllStringSubmatch(string(text), -1)
	if len(suites) == 0 {
		t.Fatal("no suite found in matrix.yaml")
	}
	for _, s := range suites {
		w.netmatrix(t, "plan", "--suite", s[1]).expect(t, exitOK)
	}
}

// commands are the root command and all below it.
func commands() []*cobra.Command {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	list := []*cobra.Command{root}
	for i := 0; i < len(list); i++ {
		list = append(list, list[i].Commands()...)
	}
	return list
}

func TestHelp(t *testing.T) {
	for _, c := range commands() {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		r := local(args...)
		if r.code != exitOK || r.stderr != "" || !strings.Contains(r.stdout, "Usage:") {
			t.Errorf("%v: exit code %d, stderr %q, stdout %q", args, r.code, r.stderr, r.stdout)
		}
		if c.Short == "" {
			t.Errorf("%s has no one-line description", c.CommandPath())
		}
	}
	if r := local(); r.code != exitOK || !strings.Contains(r.stdout, "Available Commands:") {
		t.Errorf("without a command: exit code %d, stdout %q", r.code, r.stdout)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r := local("completion", shell); r.code != exitOK || !strings.Contains(r.stdout, "netmatrix") || r.stderr != "" {
			t.Errorf("completion %s: exit code %d, %d bytes, stderr %q", shell, r.code, len(r.stdout), r.stderr)
		}
	}
	w := newWorkspace(t, pairSuite)
	for _, c := range []struct{ words, want string }{
		{"run --suite ", "pair\tdoes the product work?"},
		{"bench --protocol ", "websocket"},
		{"bench --runtime ", "coroutine/goroutine"},
		{"r", "resume"},
	} {
		// The shell's script asks in this way what could come next.
		words := append([]string{cobra.ShellCompRequestCmd}, strings.Split(c.words, " ")...)
		r := w.netmatrix(t, words...)
		if r.code != exitOK || !strings.Contains(r.stdout, c.want) {
			t.Errorf("%q: exit code %d, completions %q, want %q among them", c.words, r.code, r.stdout, c.want)
		}
	}
}

// Commands that help texts quote are ones that the command accepts.
func TestExamplesParse(t *testing.T) {
	n := 0
	for _, c := range commands() {
		if c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			continue // cobra's own
		}
		n += checkQuoted(t, c.Example)
	}
	if n == 0 {
		t.Error("no examples found")
	}
}

// So are those in the README.
func TestReadmeParses(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if checkQuoted(t, code(string(text))) == 0 {
		t.Error("the README quotes no command")
	}
}

// code is the lines of Markdown that stand in code blocks, fenced or indented.
func code(markdown string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(markdown) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			b.WriteString(line)
		}
	}
	return b.String()
}

// quoted is a command of netmatrix in a line of shell, also behind a prompt, a
// path or another command.
var quoted = regexp.MustCompile(`(?m)(?:^\s*(?:\$ )?|&& |; )(?:\S*/)?netmatrix ([^|&;>#\n]+)`)

// checkQuoted wants of each command in a text that it exists, has the flags and
// takes as many arguments; it returns how many there are.
func checkQuoted(t *testing.T, text string) int {
	t.Helper()
	lines := quoted.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1)
	for _, line := range lines {
		c, words, err := newRoot().Find(strings.Fields(line[1]))
		if err == nil {
			err = c.ParseFlags(words)
		}
		if err == nil {
			err = c.ValidateRequiredFlags()
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("netmatrix %s: %v", line[1], err)
		}
	}
	return len(lines)
}
