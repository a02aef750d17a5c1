package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Memory is a runtime without sockets, goroutines or time of its own: sessions
// talk through memory on a virtual clock, and whatever is left to chance comes
// from a seed. The same sessions under the same Conditions see the same calls
// at the same times, always.
//
// It is as hard on sessions as the contract allows: what it lends is scribbled
// over after the call, out is not always empty, streams are cut as Conditions
// say. It is for tests, and everything in it, Group.Wake included, is called
// from the goroutine that calls Run.
type Memory struct {
	timeline  timeline
	under     Conditions
	rng       *rand.Rand
	listeners map[string]*listener // by network and address
	sockets   map[string]*socket   // by address
	port      int                  // the last one given out
	scratch   []byte
	faults    []error
}

// Conditions are what the network in memory is like. The zero value is a
// perfect network without latency.
type Conditions struct {
	Seed    uint64
	Cut     Cut
	Latency int64 // nanoseconds from sending to arrival
	Buffer  int   // bytes of a socket buffer that Config leaves open; default 32 KiB
	// Loss and Duplicate are shares of the datagrams, 0 to 1. Jitter is the
	// most nanoseconds that a datagram arrives later than Latency says; it is
	// what makes one overtake another.
	Loss, Duplicate float64
	Jitter          int64
	Limit           int64 // nanoseconds of virtual time after which Run gives up; default 1 h
}

const (
	lingerFor     = int64(time.Second)
	start         = int64(time.Hour) // of the clock; not 0, which in Wake means never
	defaultRead   = 256 << 10        // bytes
	defaultBuffer = 32 << 10         // bytes
	maxDatagram   = 65507            // bytes
)

var (
	errReset  = errors.New("connection reset by peer")
	errClosed = fmt.Errorf("group closed: %w", net.ErrClosed)
	errNobody = errors.New("connection refused")
)

// NewMemory makes a runtime whose clock stands at some time other than 0.
func NewMemory(c Conditions) *Memory {
	if c.Buffer == 0 {
		c.Buffer = defaultBuffer
	}
	if c.Limit == 0 {
		c.Limit = int64(time.Hour)
	}
	return &Memory{
		timeline:  timeline{now: start},
		under:     c,
		rng:       rand.New(rand.NewPCG(c.Seed, 1)),
		listeners: map[string]*listener{},
		sockets:   map[string]*socket{},
	}
}

// Clock is the virtual clock in nanoseconds. It is what sessions and Config
// are to be given; Memory itself looks at no other.
func (m *Memory) Clock() int64 { return m.timeline.now }

// Advance lets d nanoseconds pass within a session's call, as work does that
// keeps the only thread busy. What is due meanwhile comes late.
func (m *Memory) Advance(d int64) { m.timeline.now += d }

// Run goes through what is due until done holds; with nil, until nothing is
// left. Its error says what a session did against the contract, or that
// nothing is left to happen that could make done true.
func (m *Memory) Run(done func() bool) error {
	for done == nil || !done() {
		if m.timeline.now-start > m.under.Limit {
			return fmt.Errorf("not done after %v of virtual time", time.Duration(m.under.Limit))
		}
		if !m.timeline.step() {
			if done != nil {
				m.fault("nothing is left to happen, and it is not done")
			}
			break
		}
		if len(m.faults) > 0 {
			break
		}
	}
	return errors.Join(m.faults...)
}

func (m *Memory) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf(format, args...))
}

// lend returns a buffer to append to, one time in four with something in it
// already.
func (m *Memory) lend() []byte {
	if m.rng.IntN(4) == 0 {
		return append(m.scratch[:0], "held"...)
	}
	return m.scratch[:0]
}

// scribble makes b useless to whoever kept it beyond the call it was lent for.
func scribble(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// Info tells that Memory lacks nothing.
func (m *Memory) Info() transport.Info {
	return transport.Info{
		Name:    "memory",
		Version: "virtual",
		Models:  map[string]string{"shared": "one thread on a virtual clock", "sharded": "the same; several addresses with udp"},
	}
}

// Listen takes connections to, or datagrams at, c.Address.
func (m *Memory) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	host, port, err := splitAddress(c.Address)
	if err != nil {
		return nil, err
	}
	g := &memoryGroup{net: m, config: c}
	sockets := 1
	if c.Network == "udp" && c.IOModel == "sharded" {
		sockets = max(1, c.Threads)
	}
	for range sockets {
		addr := net.JoinHostPort(host, strconv.Itoa(port))
		if port == 0 {
			addr = m.freeAddress(host)
		}
		if m.taken(c.Network, addr) {
			g.Close()
			return nil, fmt.Errorf("listen on %s: address already in use", addr)
		}
		g.addrs = append(g.addrs, addr)
		if c.Network == "udp" {
			m.bind(g, addr, "", session())
		} else {
			m.listeners[addr] = &listener{group: g, session: session}
		}
	}
	return g, nil
}

// Dial connects at once. The sessions get their Open from Run.
func (m *Memory) Dial(c transport.Config, addrs []string, s []transport.Session) (transport.Group, error) {
	g := &memoryGroup{net: m, config: c, dialled: true}
	if err := m.reachable(c.Network, addrs, len(s)); err != nil {
		for _, session := range s {
			session.Close(err)
		}
		return nil, err
	}
	for i, session := range s {
		to, local := addrs[i%len(addrs)], m.freeAddress("127.0.0.1")
		g.addrs = append(g.addrs, local)
		if c.Network == "udp" {
			m.bind(g, local, to, session)
		} else {
			m.connect(g, m.listeners[to], session)
		}
	}
	return g, nil
}

// reachable reports the first address that nobody listens on. Datagrams may
// be sent to nobody.
func (m *Memory) reachable(network string, addrs []string, sessions int) error {
	if len(addrs) == 0 && sessions > 0 {
		return fmt.Errorf("dial: no address is given for %d sessions", sessions)
	}
	for _, addr := range addrs[:min(len(addrs), sessions)] {
		if network != "udp" && m.listeners[addr] == nil {
			return fmt.Errorf("dial %s: %w", addr, errNobody)
		}
	}
	return nil
}

func (m *Memory) taken(network, addr string) bool {
	if network == "udp" {
		return m.sockets[addr] != nil
	}
	return m.listeners[addr] != nil
}

func (m *Memory) freeAddress(host string) string {
	m.port++
	return net.JoinHostPort(host, strconv.Itoa(m.port))
}

func splitAddress(addr string) (host string, port int, err error) {
	if addr == "" {
		return "127.0.0.1", 0, nil
	}
	host, service, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(service)
	}
	if err != nil {
		return "", 0, fmt.Errorf("listen on %q: want host:port: %w", addr, err)
	}
	return host, port, nil
}

type listener struct {
	group   *memoryGroup
	session func() transport.Session
}

// memoryGroup is what one Listen or Dial has opened.
type memoryGroup struct {
	net     *Memory
	config  transport.Config
	dialled bool
	addrs   []string
	sides   []*side // those that are not closed, oldest first
}

var (
	_ transport.Runtime = (*Memory)(nil)
	_ transport.Group   = (*memoryGroup)(nil)
)

func (g *memoryGroup) Addrs() []string { return g.addrs }
func (g *memoryGroup) Live() int       { return len(g.sides) }

func (g *memoryGroup) Wake() {
	for _, s := range g.sides {
		g.net.timeline.at(g.net.Clock(), rankWire, s.wake)
	}
}

func (g *memoryGroup) Close() error {
	for _, addr := range g.addrs {
		if l := g.net.listeners[addr]; l != nil && l.group == g {
			delete(g.net.listeners, addr)
		}
	}
	for len(g.sides) > 0 {
		g.sides[0].link.abandon()
	}
	return nil
}
