package goplugin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

// hostDir and hostPlugin tell the test binary what to do as a driver.
const (
	hostDir    = "GOPLUGIN_TEST_DIR"
	hostPlugin = "GOPLUGIN_TEST_PLUGIN"
)

func mustStart() (*Host, *Process) {
	h, err := NewHost(os.Getenv(hostDir))
	if err != nil {
		panic(err)
	}
	p, err := h.Start(context.Background(), Command{Name: "good", Path: os.Getenv(hostPlugin)})
	if err != nil {
		panic(err)
	}
	return h, p
}

// actHost is a driver that says where its plugin listens and waits to be killed.
func actHost() {
	_, p := mustStart()
	r, err := p.Prepare(context.Background(), control.Setup{Role: control.RoleServer})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Addrs[0])
	_, _ = p.Measure(context.Background(), nil)
}

// actQuietHost is a driver whose run goes well.
func actQuietHost() {
	h, p := mustStart()
	p.Kill()
	p.Kill()
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		panic(err)
	}
}

// driver is a driver process that starts a plugin, with its scratch folder in dir.
func driver(t *testing.T, act, dir, plugin string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(executable(t, act))
	cmd.Env = append(os.Environ(), hostDir+"="+dir, hostPlugin+"="+executable(t, plugin))
	return cmd
}

func TestKilledDriverLeavesNothing(t *testing.T) {
	dir := shortDir(t)
	cmd := driver(t, "host", dir, "good")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var addr string
	_, err = fmt.Fscanln(out, &addr)
	if err != nil || refused(addr) {
		t.Errorf("its plugin does not listen at %q: %v", addr, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "the plugin is gone", func() bool { return refused(addr) })

	left, err := filepath.Glob(filepath.Join(dir, scratchPrefix+"*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("scratch folders left = %v, %v, want one to sweep", left, err)
	}
	h, err := NewHost(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if _, err := os.Stat(left[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the killed driver is still there: %v", err)
	}
}

// The lifeline alone ends a plugin, as it has to where there is no
// parent-death signal.
func TestLifeline(t *testing.T) {
	cmd := exec.Command(executable(t, "good"))
	cmd.Env = append(os.Environ(), handshake.MagicCookieKey+"="+handshake.MagicCookieValue, "TMPDIR="+shortDir(t))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, valid := parseHandshake(line); !valid {
		t.Errorf("it printed %q, %v, want a handshake", line, err)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if got, want := cmd.ProcessState.ExitCode(), 1; got != want {
		t.Errorf("exit status = %d, want %d, of its own accord", got, want)
	}
}

func TestGoodRunIsQuiet(t *testing.T) {
	var out bytes.Buffer
	cmd := driver(t, "quiet", shortDir(t), "good")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("the run ended with %v and said %q, want silence", err, out.String())
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	h := newHost(t)
	var all []*Process
	for range 3 {
		all = append(all, startGood(t, h))
	}
	if err := syscall.Kill(all[1].PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	for i, p := range all {
		if !done(p) {
			t.Errorf("process %d is still there", i)
		}
	}
	if _, err := os.Stat(h.Scratch()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the scratch folder is still there: %v", err)
	}
	_, err := h.Start(t.Context(), Command{Name: "good", Path: executable(t, "good")})
	if err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("Start on a closed host = %v, want an error", err)
	}
}

// A start that is under way when the host is closed ends with it.
func TestCloseDuringStart(t *testing.T) {
	h := newHost(t)
	path := executable(t, "hang")
	started := make(chan error)
	go func() {
		_, err := h.Start(t.Context(), Command{Name: "hang", Path: path})
		started <- err
	}()
	eventually(t, "the process is there", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.children) == 1
	})
	if err := h.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if err := <-started; !errors.Is(err, errClosed) {
		t.Errorf("Start = %v, want %v", err, errClosed)
	}
}
