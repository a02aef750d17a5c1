package goplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/transport"
)

// acts are what the test binary does when it is executed under one of these
// names: plugins take no flags and get no environment of ours.
var acts = map[string]func(){
	"good":    func() { Serve(fake{}) },
	"early":   func() { fmt.Fprintln(os.Stderr, "no such device"); os.Exit(3) },
	"crash":   func() { panic("boom at start") },
	"hang":    untilDriverEnds,
	"noise":   func() { fmt.Println("a banner of some library"); Serve(fake{}) },
	"older":   serveOlder,
	"newer":   func() { fmt.Println("1|99|unix|/nowhere|grpc|"); untilDriverEnds() },
	"netrpc":  func() { fmt.Println("1|1|unix|/nowhere|netrpc|"); untilDriverEnds() },
	"garbage": func() { listenRaw("SSH-2.0-OpenSSH_9.6\r\n") },
	"mute":    func() { listenRaw("") },
	"closes":  func() { os.Stdout.Close(); untilDriverEnds() },

	"grandchild": func() { fmt.Println(listen()); select {} },
	"host":       actHost,
	"quiet":      actQuietHost,
}

func TestMain(m *testing.M) {
	if act := acts[filepath.Base(os.Args[0])]; act != nil {
		act()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func untilDriverEnds() { _, _ = io.Copy(io.Discard, os.Stdin) }

func serveOlder() {
	older := handshake
	older.ProtocolVersion = 0
	plugin.Serve(&plugin.ServeConfig{HandshakeConfig: older, Plugins: pluginSet(fake{}), GRPCServer: plugin.DefaultGRPCServer})
}

// listenRaw announces a socket on which something else than gRPC answers.
func listenRaw(greeting string) {
	path := filepath.Join(os.Getenv(plugin.EnvUnixSocketDir), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	fmt.Printf("1|1|unix|%s|grpc|\n", path)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, greeting)
	}
}

// listen opens a port that is refused again once this process is gone.
func listen() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			if conn, err := l.Accept(); err == nil {
				conn.Close()
			}
		}
	}()
	return l.Addr().String()
}

// description is what the fake plugin says of itself.
var description = control.Description{
	Info: transport.Info{
		Name: "fake", Version: "example.org/fake@v1.2.3",
		Models: map[string]string{"shared": "one loop"},
		Lacks:  []transport.Lack{{Axis: "protocol", Value: "udp", Why: "it has none"}},
	},
	Roles:     []string{control.RoleServer},
	Protocols: []string{"tcp"},
}

// fake does in Prepare what Setup.Role says.
type fake struct{}

func (fake) Describe(context.Context) (control.Description, error) {
	d := description
	d.GoVersion = runtime.Version()
	d.Stack = map[string]string{
		"gomaxprocs": fmt.Sprint(runtime.GOMAXPROCS(0)),
		"cpus":       fmt.Sprint(runtime.NumCPU()), // of the affinity at start
	}
	for _, kv := range os.Environ() {
		key, value, _ := strings.Cut(kv, "=")
		d.Stack["env "+key] = value
	}
	return d, nil
}

func (fake) Prepare(_ context.Context, s control.Setup) (control.Ready, error) {
	switch s.Role {
	case "panic":
		panic("boom in prepare")
	case "exit":
		os.Exit(7)
	case "unsupported":
		return control.Ready{}, fmt.Errorf("%w: it has no udp", control.ErrUnsupported)
	case "fail":
		return control.Ready{}, errors.New("listen: address in use")
	case "print":
		fmt.Println("through os.Stdout")
		fmt.Fprintln(os.Stderr, "through os.Stderr")
		_, _ = os.NewFile(1, "").WriteString("through descriptor 1\n")
	case "parent":
		return control.Ready{Addrs: []string{startGrandchild()}}, nil
	case control.RoleServer:
		return control.Ready{Addrs: []string{listen()}, Send: s.Send, Receive: s.Receive}, nil
	}
	return control.Ready{}, nil
}

func startGrandchild() string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := &exec.Cmd{Path: exe, Args: []string{"grandchild"}, Stderr: os.Stderr}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	var addr string
	_, _ = fmt.Fscanln(out, &addr)
	return addr
}

func (fake) Inspect(context.Context) (control.Counters, error) {
	return control.Counters{Accepted: 3, Live: -1}, nil
}

// Measure answers the plan in figures; an empty plan never ends.
func (fake) Measure(_ context.Context, plan []control.Slice) (control.Result, error) {
	if len(plan) == 0 {
		select {}
	}
	var r control.Result
	for _, s := range plan {
		r.Slices = append(r.Slices, control.Sample{Start: s.Settle, End: s.Length, RoundTrips: int64(s.Target)})
	}
	r.Targets = []control.Tally{{RTT: make([]byte, 5<<20), Counts: map[string]int64{control.CountSent: 1}}}
	return r, nil
}

func (fake) Stop(context.Context) error { return nil }

// executable is the test binary under the name of one of the acts.
func executable(t testing.TB, act string) string {
	t.Helper()
	if acts[act] == nil {
		t.Fatalf("no act %q among %v", act, slices.Sorted(maps.Keys(acts)))
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), act)
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// shortDir is like t.TempDir, but leaves room for the path of a unix socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newHost(t testing.TB) *Host {
	t.Helper()
	h, err := NewHost(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// start starts a plugin that is expected to come up.
func start(t testing.TB, h *Host, c Command) *Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := h.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func startGood(t testing.TB, h *Host) *Process {
	t.Helper()
	return start(t, h, Command{Name: "good", Path: executable(t, "good")})
}

// patience is how long a test waits for what has to happen.
const patience = 30 * time.Second

// eventually polls until holds does.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("still not so after %v: %s", patience, what)
		}
	}
}

func refused(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		conn.Close()
	}
	return err != nil
}

func done(p *Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}
