package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binaries is the folder with the command and all plugins, as they are built.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nmbuild")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaries = dir
	// Whoever starts the tests may ignore these, as nohup does; the command is to
	// be started as a terminal starts it, and a signal that is handled here is not
	// ignored in a child.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// testSource is the hash that the plugins of these tests say they were built from.
var testSource = strings.Repeat("5eed", 16)

// build builds the command and every plugin of the repository once.
var build = sync.OnceValues(func() (plugins []string, err error) {
	args := []string{"build", "-trimpath", "-ldflags", "-s -w -X github.com/netmatrix/netmatrix/core/agent.source=" + testSource}
	if raceEnabled {
		args = append(args, "-race")
	}
	for _, x := range [][]string{{binaries + "/", "."}, {filepath.Join(binaries, "plugins") + "/", "../../plugins/..."}} {
		out, err := exec.Command("go", append(args, "-o", x[0], x[1])...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", x[1], err, out)
		}
	}
	entries, err := os.ReadDir(filepath.Join(binaries, "plugins"))
	for _, e := range entries {
		plugins = append(plugins, e.Name())
	}
	return plugins, err
})

// shipped is a folder with the plugins as they are shipped: bounds on memory
// hold for these, not for what the race detector makes of them.
var shipped = sync.OnceValues(func() (dir string, err error) {
	if !raceEnabled {
		return filepath.Join(binaries, "plugins"), nil
	}
	dir = filepath.Join(binaries, "shipped")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir+"/", "../../plugins/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ../../plugins/...: %w\n%s", err, out)
	}
	return dir, nil
})

// workspace is a folder as a user has it: the command, the plugins, a matrix
// file, and a folder for temporary files that nobody else uses. The executables
// are links of its own, so that a process started from here can be told from
// any other by its path.
type workspace struct {
	dir, tmp string
	env      []string
}

// newWorkspace makes a workspace over every plugin there is, with the suites
// given as YAML. In the end it must have left no process and no scratch folder.
func newWorkspace(t testing.TB, suites string) *workspace {
	t.Helper()
	plugins, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nm") // not t.TempDir: a unix socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{dir: dir, tmp: filepath.Join(dir, "tmp")}
	t.Cleanup(func() {
		w.checkClean(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"tmp", "plugins"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"netmatrix"}
	for _, p := range plugins {
		files = append(files, filepath.Join("plugins", p))
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(binaries, f), filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "matrix.yaml", matrixText(plugins, suites))
	return w
}

// matrixText is a matrix file over plugins in the folder plugins beside it. By
// default there are no twins and no repeats, so that tests can count records on
// a machine that others use.
func matrixText(plugins []string, suites string) string {
	var b strings.Builder
	b.WriteString("version: 1\nruntimes:\n")
	for _, p := range plugins {
		fmt.Fprintf(&b, "  %s: {plugin: plugins/%s}\n", p, p)
	}
	b.WriteString("baseline: {runtime: coroutine, execution: goroutine}\nload: {runtime: rawpoll, threads: auto, wait: busy}\ncpus: auto\n")
	b.WriteString("defaults: {twin: false, repeats: 0}\nsuites:\n" + suites)
	return b.String()
}

// anySuite stands where a test needs a valid matrix and no suite of it.
const anySuite = "  any: {protocol: tcp, payload: 64, clients: 1, window: 1}\n"

func (w *workspace) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// script puts a shell script in the place of a plugin.
func (w *workspace) script(t testing.TB, plugin, text string) {
	t.Helper()
	path := filepath.Join(w.dir, "plugins", plugin)
	_ = os.Remove(path) // it may be a link to the real one
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// command is netmatrix in the workspace, in a process group of its own.
func (w *workspace) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(w.dir, "netmatrix"), args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "TMPDIR="+w.tmp)
	c.Env = append(c.Env, w.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// result is how a command ended.
type result struct {
	stdout, stderr string
	code           int // -1: killed by a signal
}

// commandLimit is when a command is taken to hang.
const commandLimit = 2 * time.Minute

// netmatrix runs the command to its end.
func (w *workspace) netmatrix(t testing.TB, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := w.command(args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, c)
	return result{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// await waits for a command that has been started, and ends one that hangs.
func await(t testing.TB, c *exec.Cmd) {
	t.Helper()
	hung := time.AfterFunc(commandLimit, func() { _ = c.Process.Signal(syscall.SIGQUIT) })
	defer hung.Stop()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if c.ProcessState.String() == "signal: quit" || !hung.Stop() {
		t.Fatalf("%v did not end within %v\n%v", c.Args, commandLimit, c.Stderr)
	}
}

// expect fails the test unless the command ended with the code.
func (r result) expect(t testing.TB, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.stdout, r.stderr)
	}
}

// processes are the processes that run an executable of the workspace. It sees
// none where the system has no /proc.
func (w *workspace) processes() []string {
	var list []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, w.dir+"/") {
			list = append(list, filepath.Dir(l)+" "+exe)
		}
	}
	return list
}

// sockets are the names of unix sockets in the workspace that someone holds.
func (w *workspace) sockets() []string {
	var list []string
	text, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, " "+w.tmp+"/") {
			list = append(list, line)
		}
	}
	return list
}

// deathLimit is how soon after the command every process it started is gone.
const deathLimit = 3 * time.Second

// checkGone reports processes and control sockets that are left. With its
// process a listening tcp socket is gone too.
func (w *workspace) checkGone(t testing.TB) {
	t.Helper()
	for until := time.Now().Add(deathLimit); ; {
		left := append(w.processes(), w.sockets()...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Errorf("%v after the command these are left: %v", deathLimit, left)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// scratch are the scratch folders there are.
func (w *workspace) scratch() []string {
	list, _ := filepath.Glob(filepath.Join(w.tmp, "*"))
	return list
}

func (w *workspace) checkClean(t testing.TB) {
	t.Helper()
	w.checkGone(t)
	if left := w.scratch(); len(left) > 0 {
		t.Errorf("scratch folders are left: %v", left)
	}
}

// plugins is what `netmatrix runtimes` tells of the plugins.
func (w *workspace) plugins(t testing.TB) []pluginInfo {
	t.Helper()
	r := w.netmatrix(t, "runtimes", "--json")
	r.expect(t, exitOK)
	var list []pluginInfo
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// local runs the command in this process.
func local(args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(args, &stdout, &stderr)
	return result{stdout.String(), stderr.String(), code}
}
