package goplugin

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

func TestCallsReachThePlugin(t *testing.T) {
	h := newHost(t)
	p := startGood(t, h)

	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := description
	want.GoVersion, want.Stack = runtime.Version(), d.Stack
	if !reflect.DeepEqual(d, want) {
		t.Errorf("Describe = %+v, want %+v", d, want)
	}
	r, err := p.Prepare(t.Context(), control.Setup{Role: control.RoleServer, Send: 4096, Receive: 8192})
	if err != nil || len(r.Addrs) != 1 || r.Send != 4096 || r.Receive != 8192 {
		t.Errorf("Prepare = %+v, %v", r, err)
	}
	n, err := p.Inspect(t.Context())
	if want := (control.Counters{Accepted: 3, Live: -1}); err != nil || n != want {
		t.Errorf("Inspect = %+v, %v, want %+v", n, err, want)
	}
	res, err := p.Measure(t.Context(), []control.Slice{{Target: 2, Length: 30, Settle: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []control.Sample{{Start: 10, End: 30, RoundTrips: 2}}; !reflect.DeepEqual(res.Slices, want) {
		t.Errorf("Measure saw %+v, want %+v", res.Slices, want)
	}
	if got, want := len(res.Targets[0].RTT), 5<<20; got != want {
		t.Errorf("a histogram of %d bytes arrived, want %d: larger than gRPC's own limit", got, want)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if s := p.Stderr(); s != "" {
		t.Errorf("stderr of a good run = %q, want none", s)
	}
}

func TestStartUnlinksTheSocket(t *testing.T) {
	h := newHost(t)
	startGood(t, h)
	entries, err := os.ReadDir(h.Scratch())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != lockName {
			t.Errorf("%s is left in the scratch folder", e.Name())
		}
	}
}

func TestStartBuildsTheEnvironment(t *testing.T) {
	t.Setenv("GOGC", "7")
	t.Setenv("GOMAXPROCS", "5")
	t.Setenv("NETMATRIX_TEST", "leaks")
	h := newHost(t)
	p := start(t, h, Command{Name: "good", Path: executable(t, "good"), GOMAXPROCS: 3})
	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Stack["gomaxprocs"], "3"; got != want {
		t.Errorf("GOMAXPROCS = %s, want %s", got, want)
	}
	if got, want := d.Stack["env TMPDIR"], h.Scratch(); got != want {
		t.Errorf("TMPDIR = %s, want %s", got, want)
	}
	if got, want := d.Stack["env PATH"], os.Getenv("PATH"); got != want {
		t.Errorf("PATH = %s, want %s", got, want)
	}
	for _, key := range []string{"GOGC", "NETMATRIX_TEST"} {
		if value, ok := d.Stack["env "+key]; ok {
			t.Errorf("the plugin inherited %s=%s", key, value)
		}
	}
}

func TestStartErrors(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		within     time.Duration // of the start; 0: patience
		want       []string      // parts of the error
		is         error
	}{
		{"missing", "/nowhere/plugin", 0, []string{"/nowhere/plugin", "build it"}, fs.ErrNotExist},
		{"not executable", plain, 0, []string{plain, "execute permission"}, fs.ErrPermission},
		{"exits", executable(t, "early"), 0, []string{"exited with status 3 before it was ready", "no such device"}, control.ErrPluginGone},
		{"crashes", executable(t, "crash"), 0, []string{"exited with status 2", "panic: boom at start"}, control.ErrPluginGone},
		{"hangs", executable(t, "hang"), 200 * time.Millisecond, []string{"was not ready in time", "nothing to stderr"}, context.DeadlineExceeded},
		{"prints first", executable(t, "noise"), 0, []string{`"a banner of some library"`, "stdout"}, nil},
		{"older contract", executable(t, "older"), 0, []string{"speaks contract 0, this driver speaks 1: rebuild the plugin"}, nil},
		{"newer contract", executable(t, "newer"), 0, []string{"speaks contract 99, this driver speaks 1"}, nil},
		{"other protocol", executable(t, "netrpc"), 0, []string{"does not answer as a plugin", "netrpc"}, nil},
		{"garbage", executable(t, "garbage"), 0, []string{"does not answer as a plugin"}, nil},
		{"answers nothing", executable(t, "mute"), 3 * time.Second, []string{"announced itself but did not answer"}, context.DeadlineExceeded},
		{"closes stdout", executable(t, "closes"), 0, []string{"closed its stdout without a handshake"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			within := c.within
			if within == 0 {
				within = patience
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			p, err := h.Start(ctx, Command{Name: "odd", Path: c.path})
			if err == nil {
				p.Kill()
				t.Fatal("it started")
			}
			for _, part := range append(c.want, "start plugin odd: ", c.path) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error is not one line: %q", err)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %q is not %q", err, c.is)
			}
			if len(h.children) != 0 {
				t.Error("its process is still alive")
			}
		})
	}
}

func TestStartCancelled(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Start(ctx, Command{Name: "good", Path: executable(t, "good")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v, want it cancelled", err)
	}
}

func TestServeByHand(t *testing.T) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(executable(t, "good"))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("it ended with %v, want exit status 2", err)
	}
	if stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "netmatrix verify") {
		t.Errorf("stdout %q, stderr %q, want one helpful sentence on stderr", stdout.String(), stderr.String())
	}
}

// BenchmarkStart is what a fresh process costs: start, one answer, kill.
func BenchmarkStart(b *testing.B) {
	h := newHost(b)
	path := executable(b, "good")
	for b.Loop() {
		start(b, h, Command{Name: "good", Path: path}).Kill()
	}
}
