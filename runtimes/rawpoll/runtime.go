// Package rawpoll is the runtime that talks to the kernel's readiness queue
// itself: epoll on Linux, kqueue on macOS and FreeBSD, with its own sockets and
// nothing of package net between them.
//
// It knows sockets, events and the contract in core/transport; it knows no
// protocol. From the top: a Runtime owns loops; a loop owns one poller, the
// connections registered with it and their timers, and is worked by one thread
// or, in the shared model, by several; a conn runs one session.
package rawpoll

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

const (
	callback  = "callback"
	goroutine = "goroutine"
	shared    = "shared"
	sharded   = "sharded"
	udp       = "udp"

	// defaultReadBuffer is large because one buffer serves a whole thread: it
	// stays in the cache, and a read that takes all there is costs one call.
	defaultReadBuffer = 256 << 10
)

var _ transport.Runtime = (*Runtime)(nil)

// Runtime implements transport.Runtime. Its loops run while a group is open.
type Runtime struct {
	start time.Time

	mu     sync.Mutex
	loops  []*loop
	groups int // open ones; the loops end with the last
}

// New returns a runtime without a thread or a descriptor.
func New() *Runtime { return &Runtime{start: time.Now()} }

// clock is the runtime's own clock: nanoseconds since New.
func (r *Runtime) clock() int64 { return int64(time.Since(r.start)) }

// Info says what the runtime is.
func (r *Runtime) Info() transport.Info {
	return transport.Info{
		Name:    "rawpoll",
		Version: version(),
		Models: map[string]string{
			shared:  sharedModel,
			sharded: shardedModel,
		},
	}
}

// Listen takes connections, or datagrams, at c.Address.
func (r *Runtime) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	if err := check(c); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	g, err := r.open(c)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if c.Network == udp {
		err = g.bind(c, session)
	} else {
		err = g.accept(c, session)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Dial connects one session after the other, so that a listener of the same
// process accepts them in this order and both ends of a connection get the
// same loop.
func (r *Runtime) Dial(c transport.Config, addrs []string, s []transport.Session) (transport.Group, error) {
	g, started, err := r.dial(c, addrs, s)
	if err != nil {
		if g != nil {
			g.Close()
		}
		for _, session := range s[started:] {
			session.Close(err)
		}
		return nil, err
	}
	return g, nil
}

// dial says how many sessions the group has taken over, also with an error.
func (r *Runtime) dial(c transport.Config, addrs []string, s []transport.Session) (g *group, started int, err error) {
	if err := check(c); err != nil {
		return nil, 0, fmt.Errorf("dial: %w", err)
	}
	sockets, err := dialSockets(c, addrs, len(s))
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		for _, sock := range sockets[started:] {
			sock.close()
		}
	}()
	g, err = r.open(c)
	if err != nil {
		return nil, 0, fmt.Errorf("dial: %w", err)
	}
	for i, sock := range sockets {
		g.has(sock)
		if err := g.take(sock, g.loops[i%len(g.loops)], s[i]); err != nil {
			return g, i, fmt.Errorf("dial %s: %w", sock.peer, err)
		}
	}
	return g, len(s), nil
}

// open returns a new group on the runtime's loops, starting them for the first.
func (r *Runtime) open(c transport.Config) (*group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == 0 {
		loops, err := startLoops(r.clock, c.IOModel, max(c.Threads, 1))
		if err != nil {
			return nil, err
		}
		r.loops = loops
	}
	r.groups++
	return newGroup(r, c), nil
}

// release is called by each group once nothing of it is left.
func (r *Runtime) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups--; r.groups > 0 {
		return
	}
	for _, l := range r.loops {
		l.stop()
	}
	r.loops = nil
}

// version is that of the only library underneath.
func version() string {
	const module = "golang.org/x/sys"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module {
				return module + "@" + dep.Version
			}
		}
	}
	return module
}

// check refuses what the runtime cannot do.
func check(c transport.Config) error {
	switch {
	case c.Network != "" && c.Network != "tcp" && c.Network != udp:
		return fmt.Errorf("network %q is neither tcp nor %s", c.Network, udp)
	case c.Execution != "" && c.Execution != callback && c.Execution != goroutine:
		return fmt.Errorf("execution %q is neither %s nor %s", c.Execution, callback, goroutine)
	case c.IOModel != "" && c.IOModel != shared && c.IOModel != sharded:
		return fmt.Errorf("IO model %q is neither %s nor %s", c.IOModel, shared, sharded)
	case c.Threads < 0 || c.ReadBuffer < 0 || c.SendBuffer < 0 || c.ReceiveBuffer < 0 || c.DatagramBytes < 0:
		return fmt.Errorf("threads %d, read buffer %d, send buffer %d, receive buffer %d, datagrams of %d bytes: none may be negative",
			c.Threads, c.ReadBuffer, c.SendBuffer, c.ReceiveBuffer, c.DatagramBytes)
	}
	return nil
}
