// Package sockets is what runtimes have in common that take their sockets from
// package net: listening, accepting, dialling, and the book of what is open.
// How bytes then move is each runtime's own. A runtime with sockets of its own
// does not need it.
package sockets

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Member is one connection or one datagram socket of a group, as its runtime
// runs it.
type Member interface {
	Run() // until the socket is closed and the session had its Close
	Ask() // has Wake called soon, if the session is a Waker; from any goroutine
	Cut() // has Run return soon; from any goroutine
}

// Maker makes the member for a socket: a *net.TCPConn or a *net.UDPConn. Of the
// latter one that is not dialled has no peer: it answers whoever sent.
type Maker func(socket net.Conn, s transport.Session, dialled bool) Member

// group is what one Listen or Dial has opened. Its lock is taken when a member
// comes or goes, never for a message.
type group struct {
	make       Maker
	addrs      []string
	send       int // socket buffers granted to the first socket, bytes
	receive    int
	goroutines sync.WaitGroup
	done       chan struct{} // closed by Close

	mu      sync.Mutex
	closed  bool
	members map[Member]struct{}
}

var (
	_ transport.Group    = (*group)(nil)
	_ transport.Buffered = (*group)(nil)
)

func newGroup(m Maker) *group {
	return &group{make: m, done: make(chan struct{}), members: make(map[Member]struct{})}
}

// Listen listens as c says, and has a member made and run for every connection
// that is accepted; with datagrams, for the one socket there is.
func Listen(c transport.Config, session func() transport.Session, m Maker) (transport.Group, error) {
	g := newGroup(m)
	if c.Network == "udp" {
		socket, err := listenDatagrams(c)
		if err != nil {
			return nil, err
		}
		g.addrs = []string{socket.LocalAddr().String()}
		g.send, g.receive = granted(socket)
		g.start(m(socket, session(), false))
		return g, nil
	}
	ln, err := listen(c)
	if err != nil {
		return nil, err
	}
	g.addrs = []string{ln.Addr().String()}
	g.send, g.receive = granted(ln)
	g.goroutines.Go(func() {
		<-g.done
		ln.Close()
	})
	g.goroutines.Go(func() { g.accept(ln, session) })
	return g, nil
}

// Dial connects every session in order, and has the first member run once the
// last is connected. After an error none is left open.
func Dial(c transport.Config, addrs []string, sessions []transport.Session, m Maker) (transport.Group, error) {
	list, err := dialAll(c, addrs, len(sessions))
	if err != nil {
		return nil, err
	}
	g := newGroup(m)
	for i, s := range list {
		g.addrs = append(g.addrs, s.LocalAddr().String())
		if i == 0 {
			g.send, g.receive = granted(s)
		}
	}
	for i, s := range list {
		g.start(m(s, sessions[i], true))
	}
	return g, nil
}

// Refuse gives every session the Close that it is due when its Dial fails, and
// returns the error.
func Refuse(sessions []transport.Session, err error) error {
	err = fmt.Errorf("dial: %w", err)
	for _, s := range sessions {
		s.Close(err)
	}
	return err
}

// Addrs implements transport.Group.
func (g *group) Addrs() []string { return slices.Clone(g.addrs) }

// Buffers implements transport.Buffered.
func (g *group) Buffers() (send, receive int) { return g.send, g.receive }

// Live implements transport.Group.
func (g *group) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.members)
}

// Wake implements transport.Group.
func (g *group) Wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for m := range g.members {
		m.Ask()
	}
}

// Close implements transport.Group.
func (g *group) Close() error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.done)
		for m := range g.members {
			m.Cut()
		}
	}
	g.mu.Unlock()
	g.goroutines.Wait()
	return nil
}

// accepter is what accept needs of a *net.TCPListener.
type accepter interface {
	AcceptTCP() (*net.TCPConn, error)
}

// accept makes a member of whatever arrives. An error passes, unless the
// listener is closed: the peer was gone already, or descriptors are short,
// which a pause can mend.
func (g *group) accept(ln accepter, session func() transport.Session) {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		s, err := ln.AcceptTCP()
		switch {
		case err == nil:
			pause = shortest
			g.start(g.make(s, session(), false))
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

// start hands m to a goroutine of its own.
func (g *group) start(m Member) {
	g.mu.Lock()
	g.members[m] = struct{}{}
	if g.closed { // accepted while Close went through the others
		m.Cut()
	}
	g.mu.Unlock()
	g.goroutines.Go(func() {
		m.Run()
		g.mu.Lock()
		delete(g.members, m)
		g.mu.Unlock()
	})
}
