package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// reference is a runtime over package net that is meant to be right rather
// than fast: the suite is tried on it. Each of its faults is a mistake that a
// runtime may make and the suite must find.
type reference struct {
	faults faults
}

type faults struct {
	readsOn      bool // reads on while output is pending
	dialPauses   bool // pauses at the dialled end as well
	closesAtOnce bool // closes without sending what is pending
	neverLingers bool // closes without waiting for the peer's end
	lingersLong  bool // waits for the peer's end for ever
	wakesEarly   bool
	forgetsWake  bool // a time that Wake returned stays although another replaced it
	wakesOnData  bool
	unserialised bool // Wake comes beside another call
	swallowsEnd  bool // End is taken for an error
	hidesErrors  bool // Close is always given nil
	closesTwice  bool
	losesTail    bool // the last bytes before the end are dropped
	reusesBuffer bool // reads into the buffer that the answer lies in
	delays       bool // leaves Nagle's algorithm on
	leaks        bool // a goroutine stays
	takesAll     bool // does not refuse what it lacks
	takesUnknown bool // does not refuse what the contract has no word for
	takesBusy    bool // dials as if it could do without sleeping
	namesNothing bool // refuses without saying what
	forgetsClose bool // sessions of a Dial that fails are left without their Close
	hidesClosing bool // Close is not told that the group's cut the conversation off
	lendsInput   bool // the buffer an answer lies in becomes the next output buffer
	hurries      bool // a dialled end that is done sends what is taken at once
	wakesFirst   bool // reads nothing while a Wake is due
	keepsDialled bool // a refused Dial leaves the others open
	joins        bool // sends one call's output as one datagram
	cutsShort    bool // reads datagrams into a buffer they may not fit
	staysOpen    bool // a datagram socket outlives its session
	givesUp      bool // one refused datagram is the end
	neverGivesUp bool // refused datagrams never are
}

func (r *reference) Info() transport.Info {
	return transport.Info{
		Name: "reference",
		Lacks: []transport.Lack{
			{Axis: "execution", Value: "goroutine", Why: "one way is enough to try the suite on"},
			{Axis: "io_model", Value: "sharded", Why: "package net has one poller"},
			{Axis: "load_wait", Value: "busy", Why: "package net sleeps while there is no input"},
		},
	}
}

// check refuses with an error that names all there is, so the right one too.
func (r *reference) check(c transport.Config) error {
	lacking := c.Execution == "goroutine" || c.IOModel == "sharded" && c.Threads > 1
	unknown := !slices.Contains([]string{"", "tcp", "udp"}, c.Network) ||
		!slices.Contains([]string{"", "callback", "goroutine"}, c.Execution) ||
		!slices.Contains([]string{"", "shared", "sharded"}, c.IOModel) ||
		min(c.Threads, c.SendBuffer, c.ReceiveBuffer, c.ReadBuffer, c.DatagramBytes) < 0
	switch {
	case lacking && r.faults.takesAll, unknown && r.faults.takesUnknown, !lacking && !unknown:
		return nil
	case r.faults.namesNothing:
		return errors.New("not here")
	default:
		c.Clock = nil
		return fmt.Errorf("not here: %+v", c)
	}
}

// referenceGroup is one Listen or Dial.
type referenceGroup struct {
	runtime *reference
	config  transport.Config
	dialled bool
	ln      net.Listener
	addrs   []string
	work    sync.WaitGroup

	mu     sync.Mutex
	conns  map[*referenceConn]bool
	closed bool
}

var (
	_ transport.Runtime = (*reference)(nil)
	_ transport.Group   = (*referenceGroup)(nil)
)

func (r *reference) group(c transport.Config, dialled bool) *referenceGroup {
	return &referenceGroup{runtime: r, config: c, dialled: dialled, conns: map[*referenceConn]bool{}}
}

func (r *reference) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	if err := r.check(c); err != nil {
		return nil, err
	}
	g := r.group(c, false)
	lc := net.ListenConfig{Control: g.control}
	if c.Network == "udp" {
		pc, err := lc.ListenPacket(context.Background(), "udp", c.Address)
		if err != nil {
			return nil, err
		}
		g.addrs = []string{pc.LocalAddr().String()}
		g.add(&referenceConn{socket: pc.(*net.UDPConn), session: session()})
		return g, nil
	}
	ln, err := lc.Listen(context.Background(), "tcp", c.Address)
	if err != nil {
		return nil, err
	}
	g.ln, g.addrs = ln, []string{ln.Addr().String()}
	g.work.Go(func() {
		for {
			c, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				g.add(&referenceConn{stream: c.(*net.TCPConn), session: session()})
			}
		}
	})
	return g, nil
}

func (r *reference) Dial(c transport.Config, addrs []string, s []transport.Session) (transport.Group, error) {
	err := r.check(c)
	if c.Busy && !r.faults.takesBusy {
		err = errors.New("not busy: it sleeps while there is no input")
	}
	if err != nil {
		r.refuse(s, err)
		return nil, err
	}
	g := r.group(c, true)
	d := net.Dialer{Control: g.control}
	for i, session := range s {
		network := c.Network
		if network == "" {
			network = "tcp"
		}
		c, err := d.Dial(network, addrs[i%len(addrs)])
		if err != nil {
			r.refuse(s[i:], err)
			if !r.faults.keepsDialled {
				g.Close()
			}
			return nil, err
		}
		g.addrs = append(g.addrs, c.LocalAddr().String())
		conn := &referenceConn{session: session}
		conn.stream, _ = c.(*net.TCPConn)
		conn.socket, _ = c.(*net.UDPConn)
		g.add(conn)
	}
	return g, nil
}

// refuse gives sessions that never opened their Close.
func (r *reference) refuse(s []transport.Session, err error) {
	for _, session := range s {
		if !r.faults.forgetsClose {
			session.Close(err)
		}
	}
}

// control asks for the buffers before the kernel settles the window.
func (g *referenceGroup) control(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		if n := g.config.SendBuffer; n > 0 {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, n)
		}
		if n := g.config.ReceiveBuffer; n > 0 {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, n)
		}
	})
}

func (g *referenceGroup) Addrs() []string { return g.addrs }

func (g *referenceGroup) Live() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

func (g *referenceGroup) list() []*referenceConn {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []*referenceConn
	for c := range g.conns {
		list = append(list, c)
	}
	return list
}

func (g *referenceGroup) Wake() {
	for _, c := range g.list() {
		c.wakeSoon()
	}
}

func (g *referenceGroup) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	if g.ln != nil {
		g.ln.Close()
	}
	for _, c := range g.list() {
		c.abandon()
	}
	if g.runtime.faults.leaks {
		go func() { select {} }()
	}
	g.work.Wait()
	return nil
}

// add starts a connection, or closes it if the group is closed already.
func (g *referenceGroup) add(c *referenceConn) {
	c.group, c.faults = g, &g.runtime.faults
	c.changed.L = &c.mu
	if c.stream != nil && c.faults.delays {
		c.stream.SetNoDelay(false)
	}
	g.mu.Lock()
	g.conns[c] = true
	closed := g.closed
	g.mu.Unlock()
	if closed {
		c.abandon()
	}
	g.work.Go(c.run)
}

func (g *referenceGroup) now() int64 {
	if g.config.Clock != nil {
		return g.config.Clock()
	}
	return time.Now().UnixNano()
}
