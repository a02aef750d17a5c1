package load_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/transport"
)

const (
	us     = int64(1_000)
	ms     = int64(1_000_000)
	second = int64(1_000_000_000)

	latency = 20 * us // one way, of the network in memory
)

// bench is a load and its targets on the network in memory, whose clock is
// virtual: Wake is called at the very time asked for, and a round trip takes
// two latencies.
type bench struct {
	t       *testing.T
	memory  *conformance.Memory
	cfg     load.Config
	load    *load.Load
	groups  []transport.Group
	clients [][]*client // by target
	begin   int64       // of the plan
	// pause is when the servers answer nothing, from and to, after the plan's
	// start; what they owe goes out at its end, unless it is datagrams.
	pause [2]int64
}

// client notes when a session of the load sends.
type client struct {
	*watched
	bench *bench
	sent  []int64 // one for each message, after the plan's start
}

// watched is what a session of the load is.
type watched struct {
	transport.Session
	transport.Waker
}

// newBench makes a load that is verified. What cfg leaves open is one client
// with a window of 16 and 64 bytes over tcp.
func newBench(t *testing.T, cfg load.Config, targets int) *bench {
	t.Helper()
	b := &bench{t: t, memory: conformance.NewMemory(conformance.Conditions{Latency: latency}), clients: make([][]*client, targets)}
	if cfg.Protocol.Name == "" {
		cfg.Protocol = tcp.Protocol()
	}
	cfg.Payload, cfg.Clock = 64, b.memory.Clock
	cfg.Clients, cfg.Window = max(cfg.Clients, 1), max(cfg.Window, 1)
	b.cfg = cfg
	var err error
	if b.load, err = load.New(cfg, targets); err != nil {
		t.Fatal(err)
	}
	net := transport.Config{Network: cfg.Protocol.Network, DatagramBytes: cfg.Payload, Clock: b.memory.Clock}
	for i := range targets {
		serve := echo.Config{Protocol: cfg.Protocol}
		if cfg.Batch {
			serve.Batch = cfg.Window
		}
		server := echo.NewServer(serve)
		g, err := b.memory.Listen(net, func() transport.Session { return &pausing{Session: server.Session(), bench: b} })
		if err != nil {
			t.Fatal(err)
		}
		var sessions []transport.Session
		for _, s := range b.load.Sessions(i) {
			c := &client{watched: &watched{s, s.(transport.Waker)}, bench: b}
			b.clients[i] = append(b.clients[i], c)
			sessions = append(sessions, c)
		}
		d, err := b.memory.Dial(net, g.Addrs(), sessions)
		if err != nil {
			t.Fatal(err)
		}
		b.groups = append(b.groups, g, d)
	}
	run(t, b.memory, b.load.Verified())
	return b
}

// measure follows a plan to its end, and to the message: what was due is sent or
// unsent, and what was sent came back.
func (b *bench) measure(plan ...control.Slice) control.Result {
	b.t.Helper()
	b.start(plan...)
	run(b.t, b.memory, b.load.Done())
	res := b.result()
	for i, y := range res.Targets {
		if n := y.Counts; n[control.CountSent] != n[control.CountReceived]+n[control.CountLost] || len(y.FirstErrors) > 0 {
			b.t.Errorf("target %d: %v, first errors %q", i, n, y.FirstErrors)
		}
	}
	return res
}

func (b *bench) start(plan ...control.Slice) {
	b.t.Helper()
	b.begin = b.memory.Clock()
	for _, list := range b.clients {
		for _, c := range list {
			c.sent = nil
		}
	}
	if err := b.load.Start(plan); err != nil {
		b.t.Fatal(err)
	}
	for _, g := range b.groups {
		g.Wake()
	}
}

func (b *bench) result() control.Result {
	b.t.Helper()
	res, err := b.load.Result()
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// now is the time since the plan's start.
func (b *bench) now() int64 { return b.memory.Clock() - b.begin }

func (c *client) Data(in, out []byte) ([]byte, error) {
	before := len(out)
	out, err := c.Session.Data(in, out)
	c.note(len(out) - before)
	return out, err
}

func (c *client) Wake(out []byte) ([]byte, int64, error) {
	before := len(out)
	out, next, err := c.Waker.Wake(out)
	c.note(len(out) - before)
	return out, next, err
}

func (c *client) note(bytes int) {
	for range bytes / (c.bench.cfg.Payload + c.bench.cfg.Protocol.Overhead) {
		c.sent = append(c.sent, c.bench.now())
	}
}

// pausing is a server's session that keeps its answers back during the pause.
type pausing struct {
	transport.Session
	bench *bench
	owed  []byte
}

func (p *pausing) Data(in, out []byte) ([]byte, error) {
	answer, err := p.Session.Data(in, nil)
	if from, to := p.bench.pause[0], p.bench.pause[1]; from <= p.bench.now() && p.bench.now() < to {
		if !p.bench.cfg.Protocol.Datagram {
			p.owed = append(p.owed, answer...)
		}
		return out, err
	}
	return append(out, answer...), err
}

func (p *pausing) Wake(out []byte) ([]byte, int64, error) {
	if p.bench.now() < p.bench.pause[1] {
		return out, p.bench.begin + p.bench.pause[1], nil
	}
	out = append(out, p.owed...)
	p.owed = nil
	return out, 0, nil
}

// histograms are those of an open loop: the RTTs from the sending and from the
// intended time, and the slips.
func histograms(t *testing.T, y control.Tally) (sent, intended, slip *hist.Histogram) {
	t.Helper()
	var all [3]*hist.Histogram
	for i, encoded := range [][]byte{y.RTT, y.Intended, y.Slip} {
		var err error
		if all[i], err = hist.Decode(encoded); err != nil {
			t.Fatal(err)
		}
	}
	return all[0], all[1], all[2]
}
