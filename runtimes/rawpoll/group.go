package rawpoll

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

var (
	_ transport.Group    = (*group)(nil)
	_ transport.Worker   = (*group)(nil)
	_ transport.Buffered = (*group)(nil)
)

// errGroupClosed is what sessions are told that Group.Close cuts off.
var errGroupClosed = fmt.Errorf("group closed: %w", net.ErrClosed)

// group is what one Listen or Dial has opened.
type group struct {
	runtime   *Runtime
	loops     []*loop
	network   string
	addrs     []string
	send      int // socket buffers granted to the first socket, bytes
	receive   int
	clock     func() int64 // what the group's Wakers go by
	readBytes int
	datagram  int // bytes that output is cut into; 0: a call's output is one datagram
	busy      bool
	routines  bool // goroutine execution
	before    int64

	live    atomic.Int64
	open    sync.WaitGroup // connections, their goroutines and the listener
	closing atomic.Bool
	waking  []atomic.Bool // by loop: Wake is posted and not carried out yet
	closed  sync.Once
}

func newGroup(r *Runtime, c transport.Config) *group {
	g := &group{
		runtime:   r,
		loops:     r.loops,
		network:   c.Network,
		clock:     c.Clock,
		readBytes: c.ReadBuffer,
		datagram:  c.DatagramBytes,
		busy:      c.Busy,
		routines:  c.Execution == goroutine,
		waking:    make([]atomic.Bool, len(r.loops)),
	}
	if g.clock == nil {
		g.clock = r.clock
	}
	if g.readBytes == 0 {
		g.readBytes = defaultReadBuffer
	}
	g.before = g.worked()
	return g
}

// accept lets the first loop accept for all and deal the connections out.
func (g *group) accept(c transport.Config, session func() transport.Session) error {
	sock, err := listenSocket(c)
	if err != nil {
		return err
	}
	g.has(sock)
	if err := newListener(g, sock.fd, session).start(); err != nil {
		sock.close()
		return fmt.Errorf("listen %s: %w", sock.local, err)
	}
	return nil
}

// bind gives each loop a datagram socket of its own.
func (g *group) bind(c transport.Config, session func() transport.Session) error {
	for _, home := range g.loops {
		sock, err := listenSocket(c)
		if err != nil {
			return err
		}
		g.has(sock)
		s := session()
		if err := newDatagrams(g, home, sock, s, false).start(); err != nil {
			sock.close()
			s.Close(err)
			return fmt.Errorf("listen %s: %w", sock.local, err)
		}
	}
	return nil
}

// take starts a dialled session.
func (g *group) take(sock socket, home *loop, s transport.Session) error {
	if g.network == udp {
		return newDatagrams(g, home, sock, s, true).start()
	}
	return newConn(g, home, sock, s, true).start()
}

// Addrs are the addresses listened on or the local ends dialled from.
func (g *group) Addrs() []string { return g.addrs }

// Buffers are what the kernel granted to the first socket.
func (g *group) Buffers() (send, receive int) { return g.send, g.receive }

// has notes a socket that the group has opened.
func (g *group) has(sock socket) {
	if len(g.addrs) == 0 {
		g.send, g.receive = sock.buffers()
	}
	g.addrs = append(g.addrs, sock.local)
}

// Live counts the connections opened and not yet closed.
func (g *group) Live() int { return int(g.live.Load()) }

// Wake has every Waker of the group called.
//
// A call that finds an earlier one not carried out yet has nothing to add: a
// flood of them must not pile up in front of the events.
func (g *group) Wake() {
	for i, l := range g.loops {
		if !g.waking[i].Swap(true) {
			l.post(func(t *thread) {
				g.waking[i].Store(false)
				g.tell(t, woken)
			})
		}
	}
}

// Close cuts off what is open and returns when nothing of the group is left.
func (g *group) Close() error {
	g.closed.Do(func() {
		g.closing.Store(true)
		for _, l := range g.loops {
			l.post(func(t *thread) { g.tell(t, shut) })
		}
		g.open.Wait()
		g.runtime.release()
	})
	return nil
}

// Working is the time, in nanoseconds over all IO threads of the runtime, that
// events were in hand since the group was opened.
func (g *group) Working() int64 { return g.worked() - g.before }

func (g *group) worked() (nanos int64) {
	for _, l := range g.loops {
		for _, t := range l.threads {
			nanos += t.worked.Load()
		}
	}
	return nanos
}

// tell passes s to what the group has on a loop, from a thread of it.
func (g *group) tell(t *thread, s signal) {
	for _, h := range t.loop.handles.all() {
		if h.group == g {
			t.tell(h, s)
		}
	}
}
