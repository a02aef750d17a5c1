package goplugin

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

func prepare(t *testing.T, p *Process, role string) (control.Ready, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := p.Prepare(ctx, control.Setup{Role: role})
	if ctx.Err() != nil {
		t.Errorf("Prepare in role %q ended at its deadline, not before", role)
	}
	return r, err
}

func TestErrorsKeepTheirIdentity(t *testing.T) {
	p := startGood(t, newHost(t))
	if _, err := prepare(t, p, "unsupported"); !errors.Is(err, control.ErrUnsupported) || err.Error() != "unsupported: it has no udp" {
		t.Errorf("Prepare = %v, want it unsupported in the plugin's words", err)
	}
	_, err := prepare(t, p, "fail")
	if err == nil || err.Error() != "listen: address in use" {
		t.Errorf("Prepare = %v, want the plugin's words", err)
	}
	if errors.Is(err, control.ErrUnsupported) || errors.Is(err, control.ErrPluginGone) {
		t.Errorf("a failure passes for %v", err)
	}
}

func TestDeadPluginIsGone(t *testing.T) {
	for _, c := range []struct{ role, want, stderr string }{
		{"panic", "good exited with status 2: panic: boom in prepare", "goplugin.fake.Prepare"},
		{"exit", "good exited with status 7", ""},
	} {
		t.Run(c.role, func(t *testing.T) {
			p := startGood(t, newHost(t))
			_, err := prepare(t, p, c.role)
			if !errors.Is(err, control.ErrPluginGone) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Prepare = %v, want a plugin gone that %s", err, c.want)
			}
			if !done(p) {
				t.Error("the error came before the process was reaped")
			}
			if !strings.Contains(p.Stderr(), c.stderr) {
				t.Errorf("stderr %q does not hold the stack", p.Stderr())
			}
			_, err = prepare(t, p, "late")
			if !errors.Is(err, control.ErrPluginGone) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a later call = %v, want a plugin gone", err)
			}
		})
	}
}

func TestKilledFromOutside(t *testing.T) {
	p := startGood(t, newHost(t))
	measured := make(chan error)
	go func() {
		_, err := p.Measure(t.Context(), nil)
		measured <- err
	}()
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := <-measured
	if want := "was killed by signal 9 (killed)"; !errors.Is(err, control.ErrPluginGone) || !strings.Contains(err.Error(), want) {
		t.Errorf("Measure = %v, want a plugin gone that %s", err, want)
	}
}

// A call must not outlast its deadline, whatever the plugin does.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		name string
		sig  syscall.Signal
	}{{"hangs in Measure", 0}, {"is stopped", syscall.SIGSTOP}} {
		t.Run(c.name, func(t *testing.T) {
			p := startGood(t, newHost(t))
			if err := syscall.Kill(p.PID(), c.sig); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := p.Measure(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Measure = %v, want its deadline exceeded", err)
			}
			p.Kill()
			if !done(p) {
				t.Error("Kill returned before the process was reaped")
			}
		})
	}
}

func TestKillTwice(t *testing.T) {
	p := startGood(t, newHost(t))
	if err := p.Err(); err != nil {
		t.Errorf("Err of a living process = %v", err)
	}
	var both sync.WaitGroup
	both.Go(p.Kill)
	both.Go(p.Kill)
	both.Wait()
	p.Kill()
	if !done(p) {
		t.Error("Kill returned before the process was reaped")
	}
	if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("signalling the process = %v, want %v", err, syscall.ESRCH)
	}
	_, call := prepare(t, p, "late")
	for what, err := range map[string]error{"a later call": call, "Err": p.Err()} {
		if !errors.Is(err, control.ErrPluginGone) || !strings.Contains(err.Error(), "was killed by the driver") {
			t.Errorf("%s = %v, want a plugin gone by the driver", what, err)
		}
	}
}

// To cut the lifeline is no kill: the plugin ends by itself.
func TestCutLifeline(t *testing.T) {
	p := startGood(t, newHost(t))
	p.CutLifeline()
	eventually(t, "the plugin is gone", func() bool { return done(p) })
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "exited with status 1") {
		t.Errorf("Err = %v, want an exit of its own accord", err)
	}
}

// What a plugin has started goes with it, whichever way it goes.
func TestDescendantsGoToo(t *testing.T) {
	for name, end := range map[string]func(*Process){
		"killed": (*Process).Kill,
		"died":   func(p *Process) { _ = syscall.Kill(p.PID(), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			p := startGood(t, newHost(t))
			r, err := prepare(t, p, "parent")
			if err != nil {
				t.Fatal(err)
			}
			if refused(r.Addrs[0]) {
				t.Fatal("the grandchild does not listen")
			}
			end(p)
			eventually(t, "the grandchild is gone", func() bool { return done(p) && refused(r.Addrs[0]) })
		})
	}
}

func TestStdoutGoesToStderr(t *testing.T) {
	p := startGood(t, newHost(t))
	if _, err := prepare(t, p, "print"); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if got, want := p.Stderr(), "through os.Stdout\nthrough os.Stderr\nthrough descriptor 1\n"; got != want {
		t.Errorf("stderr = %q, want %q", got, want)
	}
}

func TestCrashesLeaveNothing(t *testing.T) {
	crashes := 200
	if testing.Short() {
		crashes = 20
	}
	h := newHost(t)
	path := executable(t, "good")
	crash := func() {
		p := start(t, h, Command{Name: "good", Path: path})
		if _, err := prepare(t, p, "exit"); !errors.Is(err, control.ErrPluginGone) {
			t.Fatalf("Prepare = %v, want a plugin gone", err)
		}
	}
	crash() // what the first start allocates for good is no leak
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range crashes {
		crash()
	}
	eventually(t, "goroutines and files are as few as before", func() bool {
		return runtime.NumGoroutine() <= goroutines && openFiles(t) <= files
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	dir, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(dir)
}
