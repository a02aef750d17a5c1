package stdnet

import (
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// group is what one Listen or Dial has opened. Its lock is taken when a
// connection comes or goes, never for a message.
type group struct {
	config     transport.Config
	addrs      []string
	send       int // socket buffers granted to the first socket, bytes
	receive    int
	goroutines sync.WaitGroup
	done       chan struct{} // closed by Close

	mu     sync.Mutex
	closed bool
	conns  map[member]struct{}
}

// member is one connection or one datagram socket.
type member interface {
	run() // until its session had its Close
	ask() // has Wake called soon; from any goroutine
	cut() // has run return soon; from any goroutine
}

var (
	_ transport.Group    = (*group)(nil)
	_ transport.Buffered = (*group)(nil)
)

func newGroup(c transport.Config) *group {
	return &group{config: c, done: make(chan struct{}), conns: make(map[member]struct{})}
}

// Addrs implements transport.Group.
func (g *group) Addrs() []string { return slices.Clone(g.addrs) }

// Buffers implements transport.Buffered.
func (g *group) Buffers() (send, receive int) { return g.send, g.receive }

// Live implements transport.Group.
func (g *group) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

// Wake implements transport.Group.
func (g *group) Wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		c.ask()
	}
}

// Close implements transport.Group.
func (g *group) Close() error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.done)
		for c := range g.conns {
			c.cut()
		}
	}
	g.mu.Unlock()
	g.goroutines.Wait()
	return nil
}

// serve accepts on ln until the group is closed.
func (g *group) serve(ln *net.TCPListener, session func() transport.Session) {
	g.addrs = []string{ln.Addr().String()}
	g.send, g.receive = granted(ln)
	g.goroutines.Go(func() {
		<-g.done
		ln.Close()
	})
	g.goroutines.Go(func() { g.accept(ln, session) })
}

// answer serves all that send to socket with one session.
func (g *group) answer(socket *net.UDPConn, s transport.Session) {
	g.addrs = []string{socket.LocalAddr().String()}
	g.send, g.receive = granted(socket)
	g.start(newDatagrams(g, socket, s, false))
}

// accept makes a connection of whatever arrives. An error passes, unless the
// listener is closed: the peer was gone already, or descriptors are short,
// which a pause can mend.
func (g *group) accept(ln *net.TCPListener, session func() transport.Session) {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		s, err := ln.AcceptTCP()
		switch {
		case err == nil:
			pause = shortest
			g.start(newConn(g, s, session(), false))
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

// dial connects every session, and opens the first once the last is connected.
func (g *group) dial(addrs []string, sessions []transport.Session) error {
	sockets, err := dialAll(g.config, addrs, len(sessions))
	if err != nil {
		return err
	}
	for i, s := range sockets {
		g.addrs = append(g.addrs, s.LocalAddr().String())
		if i == 0 {
			g.send, g.receive = granted(s.(syscall.Conn))
		}
	}
	for i, s := range sockets {
		if socket, ok := s.(*net.UDPConn); ok {
			g.start(newDatagrams(g, socket, sessions[i], true))
		} else {
			g.start(newConn(g, s.(*net.TCPConn), sessions[i], true))
		}
	}
	return nil
}

// start hands c to a goroutine of its own, which closes it in the end.
func (g *group) start(c member) {
	g.mu.Lock()
	g.conns[c] = struct{}{}
	if g.closed { // accepted while Close went through the others
		c.cut()
	}
	g.mu.Unlock()
	g.goroutines.Go(func() {
		c.run()
		g.mu.Lock()
		delete(g.conns, c)
		g.mu.Unlock()
	})
}
