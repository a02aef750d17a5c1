// Package stdnet is package net driven by callbacks: for each connection a read
// pump calls the session with what has arrived, and a write pump sends what it
// answered, so that no call waits for the network. It shows what an event
// interface costs over the Go runtime's own poller; coroutine is package net
// without one.
//
// It knows sockets of package net and the order of a session's calls. It must
// not know what the bytes mean.
package stdnet

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
		Name:    "stdnet",
		Version: "net@" + runtime.Version(),
		Models:  map[string]string{"shared": "the Go runtime's one network poller, GOMAXPROCS N; one udp socket, read by one pump"},
		Lacks: []transport.Lack{
			{Axis: "execution", Value: "goroutine", Why: "a goroutine per connection over package net is what coroutine is"},
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
		err = errors.New("load_wait busy: stdnet cannot poll for input without sleeping; use load_wait sleep")
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
			return newDatagrams(c, u, s, dialled)
		}
		return newConn(c, socket.(*net.TCPConn), s, dialled)
	}
}

// prepare fills in what c leaves open, and refuses what this runtime cannot do.
func prepare(c transport.Config) (transport.Config, error) {
	c, err := sockets.Prepare(c)
	if err != nil {
		return c, err
	}
	if c.Execution == "goroutine" {
		return c, errors.New("execution goroutine: stdnet has callback only; coroutine is package net with a goroutine per connection")
	}
	if c.IOModel == "sharded" && c.Threads > 1 {
		return c, fmt.Errorf("io model sharded × %d: package net has one runtime poller for the whole process; use shared", c.Threads)
	}
	c.ReadBuffer = cmp.Or(c.ReadBuffer, defaultReadBuffer)
	return c, nil
}
