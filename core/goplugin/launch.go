package goplugin

import (
	"cmp"
	"context"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// launch is one start of a plugin. To go-plugin it is the runner that does the
// exec; go-plugin writes the handshake's environment and reads its one line.
type launch struct {
	host    *Host
	ctx     context.Context // bounds the start
	command Command
	env     []string // of the handshake
	sockets string   // folder of the control socket

	child   *child // nil: the exec did not come about
	release func() (inTime bool)
}

var _ runner.Runner = (*launch)(nil)

// run makes the process a plugin that answers, or ends it.
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
	var conn *grpc.ClientConn
	if err == nil {
		conn, err = l.connect(addr)
	}
	if inTime := l.release(); err == nil && inTime {
		return &Process{Plugin: newClient(conn), child: l.child}, nil
	}
	return nil, l.explain(err)
}

// connect opens the control plane's connection and sees one answer on it.
func (l *launch) connect(addr net.Addr) (*grpc.ClientConn, error) {
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
		return nil, err
	}
	l.child.attach(conn)
	_, err = grpc_health_v1.NewHealthClient(conn).Check(l.ctx, &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	return conn, err
}

func (l *launch) runner(_ hclog.Logger, spec *exec.Cmd, sockets string) (runner.Runner, error) {
	l.env, l.sockets = spec.Env, sockets
	return l, nil
}

// Start does the exec. From here on the end of ctx kills the process, which
// makes whatever waits for it return.
func (l *launch) Start(context.Context) error {
	c, err := l.host.spawn(l.command, l.env)
	if err != nil {
		return explainExec(l.command.Path, err)
	}
	l.child = c
	l.release = context.AfterFunc(l.ctx, c.kill)
	return nil
}

func (l *launch) Wait(context.Context) error {
	<-l.child.done
	return nil
}

func (l *launch) Kill(context.Context) error {
	l.child.kill()
	return nil
}

func (l *launch) Stdout() io.ReadCloser           { return &l.child.first }
func (l *launch) Stderr() io.ReadCloser           { return io.NopCloser(strings.NewReader("")) } // kept by the child
func (l *launch) Name() string                    { return l.command.Path }
func (l *launch) ID() string                      { return strconv.Itoa(l.child.cmd.Process.Pid) }
func (l *launch) Diagnose(context.Context) string { return "" } // see explain

func (l *launch) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

func (l *launch) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
