package coroutine

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// group is what one Listen or Dial has opened. Its lock is taken when a
// connection comes or goes, never for a message.
type group struct {
	config   transport.Config
	addrs    []string
	listener *net.TCPListener // nil: dialled

	goroutines sync.WaitGroup
	done       chan struct{} // closed by Close

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	wakers map[*conn]struct{} // of conns, those that Wake reaches
}

var _ transport.Group = (*group)(nil)

func newGroup(c transport.Config, addrs ...string) *group {
	return &group{
		config: c,
		addrs:  addrs,
		done:   make(chan struct{}),
		conns:  make(map[*conn]struct{}),
		wakers: make(map[*conn]struct{}),
	}
}

// Addrs implements transport.Group.
func (g *group) Addrs() []string { return slices.Clone(g.addrs) }

// Live implements transport.Group.
func (g *group) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

// Wake implements transport.Group. It asks with the lock held, so that none is
// asked once hush has returned.
func (g *group) Wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.wakers {
		c.ask()
	}
}

// Close implements transport.Group.
func (g *group) Close() error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.done)
		if g.listener != nil {
			g.listener.Close()
		}
		for c := range g.conns {
			c.socket.Close()
		}
	}
	g.mu.Unlock()
	g.goroutines.Wait()
	return nil
}

// accept makes a connection of whatever arrives, until the listener is closed.
// Any other error passes: the peer was gone already, or descriptors are short,
// which a pause can mend.
func (g *group) accept(ln *net.TCPListener, session func() transport.Session) {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		s, err := ln.AcceptTCP()
		switch {
		case err == nil:
			pause = shortest
			g.start(&conn{socket: s, session: session()})
		case errors.Is(err, net.ErrClosed):
			return
		default:
			select {
			case <-time.After(pause):
				pause = min(2*pause, longest)
			case <-g.done:
				return
			}
		}
	}
}

// start hands c to a goroutine of its own, which closes it in the end.
func (g *group) start(c *conn) {
	c.group = g
	c.waker, _ = c.session.(transport.Waker)
	c.asked.Store(c.waker != nil) // Wake follows Open

	g.mu.Lock()
	g.conns[c] = struct{}{}
	if c.waker != nil {
		g.wakers[c] = struct{}{}
	}
	if g.closed { // the last accept of a group that is being closed
		c.socket.Close()
	}
	g.mu.Unlock()
	g.goroutines.Go(c.run)
}

// hush takes c from the reach of Wake.
func (g *group) hush(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.wakers, c)
}

func (g *group) remove(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
	delete(g.wakers, c)
}
