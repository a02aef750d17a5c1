package goplugin

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/netmatrix/netmatrix/core/control"
)

// startLimit bounds a start whose context sets no earlier deadline.
const startLimit = time.Minute

// Command is a plugin process to start.
type Command struct {
	Name       string // of the plugin, for errors
	Path       string // of the executable
	CPUs       []int  // to run on, Linux only; empty: any
	GOMAXPROCS int    // of the process; 0: Go's default
}

// Process is a running plugin. Each call observes its context's deadline and
// fails with control.ErrPluginGone as soon as the process has ended.
type Process struct {
	control.Plugin
	child *child
}

// Start starts a plugin and returns once it answers. ctx bounds the start, not
// the life of the process; a minute is the limit in any case.
func (h *Host) Start(ctx context.Context, c Command) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	l := &launch{host: h, ctx: ctx, command: c}
	p, err := l.run()
	if l.sockets != "" {
		_ = os.RemoveAll(l.sockets) // once connected, nobody else is to connect
	}
	if err != nil {
		return nil, fmt.Errorf("start plugin %s: %w", c.Name, err)
	}
	return p, nil
}

func (l *launch) run() (*Process, error) {
	if err := cmp.Or(l.ctx.Err(), l.host.usable()); err != nil {
		return nil, err
	}
	addr, err := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		Plugins:          pluginSet(nil),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		RunnerFunc:       l.runner,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: l.host.Scratch()},
		SkipHostEnv:      true,
		StartTimeout:     2 * startLimit, // ctx ends a start, and says so better
		Logger:           hclog.NewNullLogger(),
	}).Start()
	if l.child == nil {
		return nil, err
	}
	if err == nil {
		err = l.connect(addr)
	}
	if inTime := l.release(); err == nil && inTime {
		return &Process{Plugin: newClient(l.conn), child: l.child}, nil
	}
	return nil, l.explain(err)
}

// connect opens the control plane's connection and sees one answer on it.
func (l *launch) connect(addr net.Addr) error {
	var dialer net.Dialer
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, addr.Network(), addr.String())
		}),
		grpc.WithIdleTimeout(0), // the socket's file is gone once connected
		grpc.WithUnaryInterceptor(translateErrors(l.child)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	)
	if err != nil {
		return err
	}
	l.child.attach(conn)
	l.conn = conn
	_, err = grpc_health_v1.NewHealthClient(conn).Check(l.ctx, &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	return err
}

// PID is the process number; it may belong to another once Done is closed.
func (p *Process) PID() int { return p.child.cmd.Process.Pid }

// Done is closed when the process has been reaped.
func (p *Process) Done() <-chan struct{} { return p.child.done }

// Err is nil while the process lives; once Done is closed, it is a
// control.ErrPluginGone that says how the process ended.
func (p *Process) Err() error {
	select {
	case <-p.child.done:
		return p.child.gone()
	default:
		return nil
	}
}

// Stderr is the last 64 KiB that the plugin wrote, also after its death.
func (p *Process) Stderr() string { return p.child.tail.String() }

// Kill ends the process and all it has started, and waits until it has been
// reaped. Killing twice, or a process that has ended, does nothing.
func (p *Process) Kill() { p.child.kill() }
