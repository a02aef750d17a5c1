package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever reads stdout may go away early (| head -1): the run is finished all the
// same, its records are kept, and nothing is said about it.
func TestReaderOfOutputGoesAway(t *testing.T) {
	for _, which := range []string{"stdout", "stdout and stderr"} {
		t.Run(which, func(t *testing.T) {
			w := newWorkspace(t, pairSuite)
			r, pipe, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			c := w.command("run", "--suite", "pair", "--out", "out")
			c.Stdout, c.Stderr = pipe, &stderr
			if which != "stdout" {
				c.Stderr = pipe
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			_ = pipe.Close()
			_ = r.Close()
			await(t, c)
			if code := c.ProcessState.ExitCode(); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			checkRun(t, filepath.Join(w.dir, "out"), 8)
			if strings.Contains(stderr.String(), "pipe") || strings.Contains(stderr.String(), "goroutine 1") {
				t.Errorf("stderr: %s", stderr.String())
			}
		})
	}
}

// Redirected output holds no escape codes, and on a terminal NO_COLOR and
// TERM=dumb are heeded.
func TestNoEscapeCodes(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	r := w.netmatrix(t, "run", "--suite", "pair", "--rounds", "1", "--out", "out")
	r.expect(t, exitOK)
	if strings.Contains(r.stdout+r.stderr, "\x1b") {
		t.Errorf("escape codes in redirected output: %q", r.stdout+r.stderr)
	}
	for _, c := range []struct {
		env  string
		want bool // escape codes
	}{{"TERM=xterm", true}, {"TERM=dumb", false}, {"NO_COLOR=1", false}} {
		t.Run(c.env, func(t *testing.T) {
			w.env = []string{"TERM=xterm", c.env}
			if text := w.onTerminal(t, "report", "out"); strings.Contains(text, "\x1b") != c.want {
				t.Errorf("escape codes wanted: %v; the terminal got %q", c.want, text)
			}
		})
	}
	t.Run("progress on a terminal", func(t *testing.T) {
		w.env = []string{"TERM=xterm"}
		text := w.onTerminal(t, "run", "--suite", "pair", "--rounds", "1", "--out", "terminal")
		if !strings.Contains(text, "ETA") || !strings.Contains(text, "(2/3)") {
			t.Errorf("no progress to see: %q", text)
		}
	})
	t.Run("progress on a dumb terminal", func(t *testing.T) {
		w.env = []string{"TERM=dumb"}
		if text := w.onTerminal(t, "run", "--suite", "pair", "--rounds", "1", "--out", "dumb"); strings.Contains(text, "\x1b") || !strings.Contains(text, "ETA") {
			t.Errorf("want plain lines: %q", text)
		}
	})
}

// onTerminal runs the command with a terminal as stdout and stderr and returns
// what the terminal got.
func (w *workspace) onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	ours, theirs := openTerminal(t)
	c := w.command(args...)
	c.Stdout, c.Stderr = theirs, theirs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, ours) // ends with an error once nobody holds the other side
	await(t, c)
	return seen.String()
}
