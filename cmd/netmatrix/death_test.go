package main

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/record"
)

// longSuite has so many short trials that a run of it is never over by itself.
const longSuite = `  long:
    contender:
      - {runtime: rawpoll, execution: callback}
      - {runtime: coroutine, execution: goroutine}
    protocol: tcp
    payload: [64, 65536]
    where: [{placement: split, clients: 4, window: 4}, {placement: colocated, clients: 2, window: 2}]
    rounds: 20
    warmup: 0s
    measure: 20ms
`

// ending is one way to end a driver.
type ending struct {
	name   string
	signal syscall.Signal
	group  bool // as a terminal does, to the whole process group
}

var waysToEnd = []ending{
	{"Ctrl-C", syscall.SIGINT, true},
	{"SIGINT", syscall.SIGINT, false},
	{"SIGTERM", syscall.SIGTERM, false},
	{"SIGHUP", syscall.SIGHUP, false},
	{"SIGKILL", syscall.SIGKILL, false},
}

// However and whenever a run is ended, no process outlives it, its records are
// whole, the next command clears up what a kill left, and in the end resume has
// measured every trial of the schedule exactly once.
func TestDeathAtAnyMoment(t *testing.T) {
	moments := 50
	if raceEnabled || testing.Short() {
		moments = 15
	}
	const seed = 20
	chance := rand.New(rand.NewPCG(seed, seed))
	w := newWorkspace(t, longSuite)
	out := filepath.Join(w.dir, "out")
	most := 500 * time.Millisecond // start and some trials
	for i := range moments {
		e := waysToEnd[i%len(waysToEnd)]
		at := time.Duration(chance.Int64N(int64(most)))
		t.Logf("seed %d, moment %d: %s after %v", seed, i, e.name, at)
		w.endAt(t, e, at, w.goOn(out))
		w.checkGone(t)
		readable(t, out)
		if t.Failed() {
			return
		}
	}
	r := w.netmatrix(t, w.goOn(out)...)
	if r.code != exitOK && r.code != exitTrials { // 3: a trial got no CPU on a busy machine
		r.expect(t, exitOK)
	}
	run, err := record.ReadRun(out)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := record.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	checkOnce(t, run, recs)
}

// goOn is the command that begins the run in a folder or goes on with it.
func (w *workspace) goOn(out string) []string {
	if _, err := record.ReadRun(out); err != nil {
		return []string{"run", "--suite", "long", "--out", out}
	}
	return []string{"resume", out}
}

// endAt runs the command, ends it at a moment of its life and holds it to how it
// should end.
func (w *workspace) endAt(t *testing.T, e ending, at time.Duration, args []string) {
	t.Helper()
	var stderr bytes.Buffer
	before := w.scratch() // of one killed just now; this one may not live to sweep it
	c := w.command(args...)
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(at) // the moment is the case
	pid := c.Process.Pid
	if e.group {
		pid = -pid
	}
	if err := syscall.Kill(pid, e.signal); err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
	sent := time.Now()
	await(t, c)
	if took := time.Since(sent); took > deathLimit {
		t.Errorf("it took %v to end", took)
	}
	checkEnding(t, e, c.ProcessState.Sys().(syscall.WaitStatus), stderr.String())
	for _, dir := range w.scratch() {
		if e.signal != syscall.SIGKILL && !slices.Contains(before, dir) {
			t.Errorf("%s left a scratch folder: %s", e.name, dir)
		}
	}
}

func checkEnding(t *testing.T, e ending, ws syscall.WaitStatus, stderr string) {
	t.Helper()
	switch {
	case e.signal == syscall.SIGKILL:
		if !ws.Signaled() {
			t.Errorf("%s: exit code %d", e.name, ws.ExitStatus())
		}
	case ws.Signaled() && ws.Signal() == e.signal && stderr == "":
		// It had not yet got as far as catching signals.
	case ws.ExitStatus() != exitInterrupted || !strings.HasSuffix(stderr, "netmatrix: interrupted\n"):
		t.Errorf("%s: exit code %d, want %d\n%s", e.name, ws.ExitStatus(), exitInterrupted, stderr)
	case strings.Contains(stderr, " into ") && !strings.Contains(stderr, "netmatrix resume "):
		t.Errorf("%s: it does not say how to go on:\n%s", e.name, stderr)
	}
}

// readable wants whole records in a folder, but for a last line that is torn.
func readable(t *testing.T, out string) {
	t.Helper()
	recs, err := record.ReadAll(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	seen := make(map[slot]bool)
	for _, r := range recs {
		s := slot{r.Group, r.Cell, r.Twin}
		if seen[s] {
			t.Errorf("twice: %s %s", r.Group, r.Cell)
		}
		seen[s] = true
	}
}

// What a killed driver leaves, the next command removes.
func TestScratchOfKilledRunIsSwept(t *testing.T) {
	w := newWorkspace(t, longSuite)
	c := w.command("run", "--suite", "long", "--out", "out")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); len(w.processes()) < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no trial began: %v", w.processes())
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, c)
	if len(w.scratch()) != 1 {
		t.Errorf("scratch folders %v, want the one of the killed driver", w.scratch())
	}
	w.checkGone(t)
	w.netmatrix(t, "runtimes").expect(t, exitOK)
	if left := w.scratch(); len(left) > 0 {
		t.Errorf("the next command left %v", left)
	}
}

// A second signal ends a driver that is taking its time.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	w := newWorkspace(t, anySuite)
	w.script(t, "coroutine", "trap '' TERM INT; exec sleep 600\n")
	c := w.command("bench", "--runtime", "coroutine")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); len(w.scratch()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it did not start")
		}
	}
	for range 2 {
		_ = c.Process.Signal(syscall.SIGTERM)
	}
	await(t, c)
	if c.ProcessState.ExitCode() == exitOK {
		t.Error("exit code 0")
	}
	w.checkGone(t)
	w.netmatrix(t, "plan", "--suite", "any", "--only", "runtime=rawpoll") // sweeps
}

// A signal that the parent chose to ignore, as nohup does, is ignored.
func TestNohup(t *testing.T) {
	w := newWorkspace(t, pairSuite)
	c := w.command("run", "--suite", "pair", "--rounds", "1", "--out", "out")
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`, c.Path, "run", "--suite", "pair", "--rounds", "1", "--out", "out"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.dir, "out", "run.json")); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("it did not start")
		}
	}
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await(t, c)
	if code := c.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("exit code %d, want %d", code, exitOK)
	}
	checkRun(t, filepath.Join(w.dir, "out"), 4)
}
