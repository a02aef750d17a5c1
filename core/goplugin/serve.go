package goplugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/netmatrix/netmatrix/core/control"
)

// maxMessage bounds one gRPC message, in bytes, on both ends. gRPC's own 4 MiB
// would be too little for the histograms of many targets.
const maxMessage = 64 << 20

// Serve serves p to the driver that started this process; it is all that a
// plugin's main does. Nothing may be printed to stdout before it; what is
// printed afterwards goes to stderr. When the driver is gone the process exits.
// Started by hand, it says so and exits 2.
func Serve(p control.Plugin) {
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		fmt.Fprintf(os.Stderr, "%s is a netmatrix plugin, which only the driver can start; to try it: netmatrix verify %[1]s\n", os.Args[0])
		os.Exit(2)
	}
	go exitWithDriver()
	stderr := os.Stderr
	if err := claimStdout(); err != nil {
		fmt.Fprintln(stderr, err)
		os.Exit(1)
	}
	// go-plugin has by now put pipes of its own into os.Stdout and os.Stderr,
	// which would send what is printed through the control plane.
	restore := sync.OnceFunc(func() { os.Stdout, os.Stderr = stderr, stderr })
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         pluginSet(p),
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: stderr}),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts,
				grpc.MaxRecvMsgSize(maxMessage),
				grpc.UnaryInterceptor(func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
					restore()
					out, err := next(ctx, in)
					return out, toStatus(err)
				}))...)
		},
	})
}

// exitWithDriver waits on the lifeline: standard input is a pipe whose other
// end only the driver holds, and never writes to.
func exitWithDriver() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// claimStdout keeps the real standard output for the handshake line, which
// go-plugin prints to os.Stdout, and points descriptor 1 at standard error for
// whatever else writes to it, C libraries included.
func claimStdout() error {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("keep stdout for the handshake: %w", err)
	}
	if err := unix.Dup2(2, 1); err != nil {
		return fmt.Errorf("point stdout at stderr: %w", err)
	}
	os.Stdout = os.NewFile(uintptr(fd), "handshake")
	return nil
}
