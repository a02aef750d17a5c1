package goplugin

import (
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

func driver(t *testing.T, act, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(executable(t, act))
	cmd.Env = append(os.Environ(), hostDir+"="+dir, hostPlugin+"="+executable(t, "good"))
	return cmd
}

func TestKilledDriverLeavesNothing(t *testing.T) {
	dir := shortDir(t)
	cmd := driver(t, "host", dir)
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

func TestGoodRunIsQuiet(t *testing.T) {
	var out bytes.Buffer
	cmd := driver(t, "quiet", shortDir(t))
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
