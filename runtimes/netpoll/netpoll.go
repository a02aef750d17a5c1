// Package netpoll is the runtime over cloudwego/netpoll. In callback execution
// a session runs on the poller that reported its connection; in goroutine
// execution a goroutine per connection waits in the library's blocking Reader.
//
// It knows the library, the sockets it takes and the order of a session's
// calls. It must not know what the bytes mean.
package netpoll

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"runtime/debug"

	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// Runtime moves bytes with cloudwego/netpoll. The library has one set of
// pollers for the whole process, so all Runtimes share theirs.
type Runtime struct{}

var _ transport.Runtime = (*Runtime)(nil)

// New returns the runtime.
func New() *Runtime { return &Runtime{} }

// Info implements transport.Runtime.
func (*Runtime) Info() transport.Info {
	return transport.Info{
		Name:    "netpoll",
		Version: version(),
		Models: map[string]string{
			"shared":  "one poller, which is one goroutine on one epoll or kqueue descriptor, GOMAXPROCS N",
			"sharded": "N pollers, connections given to them in turn, GOMAXPROCS N",
		},
		ReadsOn: "the library reads whatever a poller reports and offers no way to stop it",
		Lacks: []transport.Lack{
			{Axis: "protocol", Value: "udp", Why: "the library has none"},
			{Axis: "load_wait", Value: "busy", Why: "the library's pollers sleep in the kernel and cannot be told to poll instead"},
		},
	}
}

// version is that of the library, as it was built in; a test binary cannot tell.
func version() string {
	const module = "github.com/cloudwego/netpoll"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return module + "@" + d.Version
			}
		}
	}
	return module + "@unknown"
}

// Listen implements transport.Runtime.
func (*Runtime) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	c, err := prepare(c)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return sockets.Listen(c, session, maker(c)) // an error says what, where and why
}

// Dial implements transport.Runtime.
func (*Runtime) Dial(c transport.Config, addrs []string, sessions []transport.Session) (transport.Group, error) {
	c, err := prepare(c)
	if err == nil && c.Busy {
		err = errors.New("load_wait busy: netpoll cannot poll for input without sleeping; use load_wait sleep")
	}
	var g transport.Group
	if err == nil {
		g, err = sockets.Dial(c, addrs, sessions, maker(c))
	}
	if err != nil {
		return nil, sockets.Refuse(sessions, err)
	}
	return g, nil
}

// maker makes the members of a group that is configured as c says. Package net
// accepts and dials; the library takes over the connected sockets, in turn.
func maker(c transport.Config) sockets.Maker {
	return func(socket net.Conn, s transport.Session, dialled bool) sockets.Member {
		return newConn(c, socket.(*net.TCPConn), s, dialled)
	}
}

// prepare fills in what c leaves open, refuses what this runtime lacks and sets
// up the pollers. ReadBuffer stays unused: the library sizes its reads itself,
// from 8 KiB to 8 MiB, by doubling whenever one came back full.
func prepare(c transport.Config) (transport.Config, error) {
	c, err := sockets.Prepare(c)
	if err != nil {
		return c, err
	}
	if c.Network == "udp" {
		return c, errors.New("network udp: netpoll carries tcp only")
	}
	c.Execution = cmp.Or(c.Execution, "callback")
	pollers := 1
	if c.IOModel == "sharded" {
		pollers = max(c.Threads, 1)
	}
	return c, setUp(pollers)
}
