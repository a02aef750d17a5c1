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
	"runtime"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
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
	g := newGroup(c)
	if c.Network == "udp" {
		socket, err := listenDatagrams(c)
		if err != nil {
			return nil, err // says what, where and why
		}
		g.answer(socket, session())
		return g, nil
	}
	ln, err := listen(c)
	if err != nil {
		return nil, err
	}
	g.serve(ln, session)
	return g, nil
}

// Dial implements transport.Runtime.
func (*Runtime) Dial(c transport.Config, addrs []string, sessions []transport.Session) (transport.Group, error) {
	c, err := prepare(c)
	if err == nil && c.Busy {
		err = errors.New("stdnet cannot poll for input without sleeping; use load_wait sleep")
	}
	g := newGroup(c)
	if err == nil {
		err = g.dial(addrs, sessions)
	}
	if err != nil {
		err = fmt.Errorf("dial: %w", err)
		for _, s := range sessions {
			s.Close(err)
		}
		return nil, err
	}
	return g, nil
}

// prepare fills in what c leaves open, and refuses what this runtime lacks.
func prepare(c transport.Config) (transport.Config, error) {
	c.Network = cmp.Or(c.Network, "tcp")
	if c.Network != "tcp" && c.Network != "udp" {
		return c, fmt.Errorf("network %s: stdnet carries tcp and udp", c.Network)
	}
	if c.Execution != "" && c.Execution != "callback" {
		return c, fmt.Errorf("execution %s: stdnet has callback only; coroutine is package net with a goroutine per connection", c.Execution)
	}
	if c.IOModel == "sharded" && c.Threads > 1 {
		return c, fmt.Errorf("io model sharded × %d: package net has one runtime poller for the whole process; use shared", c.Threads)
	}
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	if c.ReadBuffer == 0 {
		c.ReadBuffer = defaultReadBuffer
	}
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() int64 { return int64(time.Since(start)) }
	}
	return c, nil
}
