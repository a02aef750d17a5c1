// Package coroutine is the runtime that needs no library: package net as
// everyone uses it, a goroutine per connection that reads, handles and writes
// in a straight line. It is what the other runtimes are compared with, so it
// carries nothing that such a program would not have.
//
// It knows sockets of package net and the order of a session's calls. It must
// not know what the bytes mean.
package coroutine

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"runtime"

	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// defaultReadBuffer is what is read at once, in bytes: as much as io.Copy does.
const defaultReadBuffer = 32 << 10

// Runtime moves bytes with package net. Its IO threads are those of the
// process, which GOMAXPROCS limits; so it keeps no state, and its groups share
// the Go runtime's poller with everything else in the process.
type Runtime struct{}

var _ transport.Runtime = (*Runtime)(nil)

// New returns the runtime.
func New() *Runtime { return &Runtime{} }

// Info implements transport.Runtime.
func (*Runtime) Info() transport.Info {
	return transport.Info{
		Name:    "coroutine",
		Version: "net@" + runtime.Version(),
		Models:  map[string]string{"shared": "the Go runtime's one network poller, GOMAXPROCS N; one udp socket, read by one goroutine"},
		Lacks: []transport.Lack{
			{Axis: "execution", Value: "callback", Why: "package net has no callbacks; stdnet runs callbacks over it"},
			{Axis: "io_model", Value: "sharded", Why: "package net has one runtime poller for the whole process"},
			{Axis: "load_wait", Value: "busy", Why: "package net parks a goroutine that waits for input and cannot poll instead"},
		},
	}
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
		err = errors.New("load_wait busy: coroutine cannot poll for input without sleeping; use load_wait sleep")
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

// maker makes the members of a group that is configured as c says.
func maker(c transport.Config) sockets.Maker {
	return func(socket net.Conn, s transport.Session, dialled bool) sockets.Member {
		if u, ok := socket.(*net.UDPConn); ok {
			return newConn(c, newDatagrams(u, c.DatagramBytes, dialled), s)
		}
		return newConn(c, newStream(socket.(*net.TCPConn), dialled), s)
	}
}

// prepare fills in what c leaves open, and refuses what this runtime cannot do.
func prepare(c transport.Config) (transport.Config, error) {
	c, err := sockets.Prepare(c)
	if err != nil {
		return c, err
	}
	if c.Execution == "callback" {
		return c, errors.New("execution callback: coroutine has goroutine only; stdnet runs callbacks over package net")
	}
	if c.IOModel == "sharded" && c.Threads > 1 {
		return c, fmt.Errorf("io model sharded × %d: package net has one runtime poller for the whole process; use shared", c.Threads)
	}
	c.ReadBuffer = cmp.Or(c.ReadBuffer, defaultReadBuffer)
	if c.Network == "udp" {
		c.ReadBuffer = sockets.DatagramRoom
	}
	return c, nil
}
