// Package agent turns any transport.Runtime into a control.Plugin: it is the
// code inside a plugin process that runs a runtime for the driver. It knows the
// phases of a trial, and nothing of how it is called or where figures go.
package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/sysinfo"
	"github.com/netmatrix/netmatrix/core/transport"
)

// source is the hash of the source this plugin was built from: the tree that
// git has and what was changed since. The linker sets it (see Makefile).
var source = "unknown"

// Agent serves one runtime. It is made once a process and prepared once.
type Agent struct {
	runtime   transport.Runtime
	protocols []protocol.Protocol

	mu     sync.Mutex // the driver makes one call at a time; this keeps to it
	role   string
	server *server
	load   *loader
}

var _ control.Plugin = (*Agent)(nil)

// New returns the agent of a runtime that carries the given protocols, as far
// as the runtime's Info does not say otherwise.
func New(rt transport.Runtime, protocols []protocol.Protocol) *Agent {
	return &Agent{runtime: rt, protocols: protocols}
}

// Describe says what the runtime is and can do.
func (a *Agent) Describe(context.Context) (control.Description, error) {
	info := a.runtime.Info()
	d := control.Description{
		Info:      info,
		Roles:     []string{control.RoleServer, control.RoleLoad, control.RoleBoth},
		Stack:     map[string]string{"event_loop": info.Version},
		GoVersion: runtime.Version(),
		Source:    source,
	}
	for _, p := range a.protocols {
		if lack(info, "protocol", p.Name) == "" {
			d.Protocols = append(d.Protocols, p.Name)
			maps.Copy(d.Stack, p.Stack)
			if p.TLS {
				d.Stack["tls"] = "crypto/tls@" + runtime.Version()
			}
		}
	}
	return d, nil
}

// Unsupported says why a plugin described as d cannot run a cell; empty: it can.
// What it cannot do is judged here for driver and agent alike. How the load
// waits is the load's own affair.
func Unsupported(d control.Description, c cell.Cell) string {
	for _, l := range d.Info.Lacks {
		if l.Axis != "load_wait" && l.Value == c.Axis(l.Axis) {
			return fmt.Sprintf("%s has no %s %s: %s", d.Info.Name, l.Axis, l.Value, l.Why)
		}
	}
	if !slices.Contains(d.Protocols, c.Protocol) {
		return fmt.Sprintf("%s does not carry %s; it carries %v", d.Info.Name, c.Protocol, d.Protocols)
	}
	return ""
}

func lack(info transport.Info, axis, value string) string {
	for _, l := range info.Lacks {
		if l.Axis == axis && l.Value == value {
			return l.Why
		}
	}
	return ""
}

// Prepare listens, dials or both, as the role says.
func (a *Agent) Prepare(ctx context.Context, s control.Setup) (control.Ready, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.role != "" {
		return control.Ready{}, errors.New("already prepared: a process serves one trial")
	}
	if err := a.check(ctx, s); err != nil {
		return control.Ready{}, err
	}
	p, err := a.protocol(s.Cell.Protocol)
	if err != nil {
		return control.Ready{}, err
	}
	a.role = s.Role
	var ready control.Ready
	if s.Role != control.RoleLoad {
		if a.server, err = listen(a.runtime, p, s); err != nil {
			return control.Ready{}, err
		}
		ready.Addrs = a.server.group.Addrs()
		s.Targets = []control.Target{{Name: s.Cell.Runtime, Addrs: ready.Addrs}}
		ready.Send, ready.Receive = granted(a.server.group)
	}
	if s.Role != control.RoleServer {
		if a.load, err = dial(ctx, a.runtime, p, s); err != nil {
			return control.Ready{}, errors.Join(err, a.close())
		}
		ready.TLS = a.load.negotiated
		if s.Role == control.RoleLoad {
			ready.Send, ready.Receive = granted(a.load.groups[0])
		}
	}
	return ready, nil
}

// check refuses what this plugin cannot run. Of a load only the protocol, which
// is looked up later, and the waiting matter: the other values are the server's.
func (a *Agent) check(ctx context.Context, s control.Setup) error {
	if s.Role != control.RoleServer && s.Role != control.RoleLoad && s.Role != control.RoleBoth {
		return fmt.Errorf("role %q is none of server, load and both", s.Role)
	}
	if s.Role == control.RoleLoad {
		if why := lack(a.runtime.Info(), "load_wait", s.Cell.LoadWait); why != "" {
			return fmt.Errorf("%w: the load cannot run with load_wait %s: %s", control.ErrUnsupported, s.Cell.LoadWait, why)
		}
		return nil
	}
	d, err := a.Describe(ctx)
	if err != nil {
		return err
	}
	if why := Unsupported(d, s.Cell); why != "" {
		return fmt.Errorf("%w: %s", control.ErrUnsupported, why)
	}
	return nil
}

func (a *Agent) protocol(name string) (protocol.Protocol, error) {
	for _, p := range a.protocols {
		if p.Name == name {
			return p, nil
		}
	}
	return protocol.Protocol{}, fmt.Errorf("%w: this plugin was built without %s", control.ErrUnsupported, name)
}

// Inspect reads the counters of the process.
func (a *Agent) Inspect(context.Context) (control.Counters, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := control.Counters{
		Accepted: -1, Messages: -1, Reads: -1, Switches: -1,
		GCCycles: int64(m.NumGC), GCNanos: int64(m.PauseTotalNs), Allocs: int64(m.Mallocs),
		Goroutines: int64(runtime.NumGoroutine()),
	}
	if u, err := sysinfo.ProcessUsage(os.Getpid()); err == nil {
		c.Switches = u.Voluntary + u.Involuntary
	}
	if a.load != nil {
		c.Live = int64(a.load.live())
	}
	if a.server != nil {
		n := a.server.echo.Counts()
		c.Live, c.Messages, c.Reads = n.Live, n.Messages, n.Reads
		if !a.server.datagrams { // else a socket serves whoever sends, and accepts nobody
			c.Accepted = n.Opened
		}
	}
	return c, nil
}

// Measure follows the plan.
func (a *Agent) Measure(ctx context.Context, plan []control.Slice) (control.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load == nil {
		return control.Result{}, errors.New("nothing to measure: not prepared as load or both")
	}
	return a.load.measure(ctx, plan)
}

// Stop closes everything. A stopped agent cannot be prepared again.
func (a *Agent) Stop(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.role == "" {
		a.role = "stopped"
	}
	return a.close()
}

func (a *Agent) close() error {
	var errs []error
	if a.load != nil {
		errs = append(errs, a.load.close())
		a.load = nil
	}
	if a.server != nil {
		errs = append(errs, a.server.group.Close())
		a.server = nil
	}
	return errors.Join(errs...)
}

// granted are the socket buffers of a group, 0 where the runtime cannot tell.
func granted(g transport.Group) (send, receive int) {
	if b, ok := g.(transport.Buffered); ok {
		return b.Buffers()
	}
	return 0, 0
}

// clock returns a monotonic clock that starts at 1, so that 0 means never.
func clock() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) + 1 }
}
