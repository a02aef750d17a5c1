package load

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

const (
	us = int64(1_000)
	ms = int64(1_000_000)
)

// rig is a load and its servers on one clock, without IO: what is sent in one
// tick is answered in the same and comes back in the next, so that every RTT is
// one tick, unless a test holds echoes back.
type rig struct {
	t       *testing.T
	now     int64
	tick    int64
	load    *Load
	servers []*echo.Server
	links   []*link // by target, then client
	// mangle is what a faulty server makes of the echoes it sends at once.
	mangle func(l *link, echoes [][]byte) [][]byte
}

// link is one connection.
type link struct {
	rig    *rig
	target int
	client *session
	server interface {
		Data(in, out []byte) ([]byte, error)
		Close(error)
	}
	up, down []byte // under way
	sent     []int64
	wakeAt   int64
	err      error // what the client's last call returned
	closed   bool
}

// newRig makes a load and opens nothing yet. What cfg leaves open is one client
// with a window of 4 and 64 bytes over tcp.
func newRig(t *testing.T, cfg Config, targets int) *rig {
	t.Helper()
	r := &rig{t: t, now: 1000 * ms, tick: 100 * us}
	if cfg.Protocol.Name == "" {
		cfg.Protocol = tcp.Protocol()
	}
	cfg.Payload = max(cfg.Payload, 64)
	cfg.Clients = max(cfg.Clients, 1)
	if cfg.Window == 0 {
		cfg.Window = 4
	}
	cfg.Clock = func() int64 { return r.now }
	var err error
	if r.load, err = New(cfg, targets); err != nil {
		t.Fatal(err)
	}
	serve := echo.Config{Protocol: cfg.Protocol, Work: cfg.Work}
	if cfg.Batch {
		serve.Batch = cfg.Window
	}
	for target := range targets {
		s := echo.NewServer(serve)
		r.servers = append(r.servers, s)
		for _, c := range r.load.Sessions(target) {
			x := s.Session()
			if _, err := x.Open(nil); err != nil {
				t.Fatal(err)
			}
			r.links = append(r.links, &link{rig: r, target: target, client: c.(*session), server: x})
		}
	}
	return r
}

// open opens every connection and asks each for its first message.
func (r *rig) open() {
	r.t.Helper()
	for _, l := range r.links {
		l.take(l.client.Open(nil))
		l.wake()
	}
}

// verified brings the rig to where the plan may begin.
func (r *rig) verified() *rig {
	r.t.Helper()
	r.open()
	r.run(2)
	if !closed(r.load.Verified()) {
		r.t.Fatal("the checked exchanges came back, yet Verified is open")
	}
	return r
}

// start begins the plan and wakes everyone.
func (r *rig) start(plan ...control.Slice) *rig {
	r.t.Helper()
	if err := r.load.Start(plan); err != nil {
		r.t.Fatal(err)
	}
	r.wake()
	return r
}

func (r *rig) wake() {
	for _, l := range r.links {
		l.wake()
		l.answer()
	}
}

// run lets so many ticks pass.
func (r *rig) run(ticks int) {
	for range ticks {
		r.now += r.tick
		for _, l := range r.links {
			l.step()
		}
	}
}

// runFor lets so much time pass.
func (r *rig) runFor(nanos int64) { r.run(int(nanos / r.tick)) }

// finish runs until the load is done.
func (r *rig) finish() {
	r.t.Helper()
	for range 1_000_000 {
		if closed(r.load.Done()) {
			return
		}
		r.run(1)
	}
	r.t.Fatal("the load is never done")
}

// result is the outcome. Every message is accounted for, whatever happened.
func (r *rig) result() control.Result {
	r.t.Helper()
	res, err := r.load.Result()
	if err != nil {
		r.t.Fatal(err)
	}
	for i, y := range res.Targets {
		c := y.Counts
		sent, received, lost, unfinished := c[control.CountSent], c[control.CountReceived], c[control.CountLost], c[control.CountUnfinished]
		if sent != received+lost+unfinished || min(sent, received, lost, unfinished) < 0 {
			r.t.Errorf("target %d: sent %d, but received %d + lost %d + unfinished %d", i, sent, received, lost, unfinished)
		}
	}
	return res
}

func (l *link) step() {
	if l.closed {
		return
	}
	if in := l.down; len(in) > 0 {
		l.down = nil
		l.data(in)
	}
	if l.wakeAt != 0 && l.rig.now >= l.wakeAt && !l.closed {
		l.wake()
	}
	l.answer()
}

// data hands bytes to the client, each datagram by itself.
func (l *link) data(in []byte) {
	if n := l.datagram(); n > 0 {
		for part := range slices.Chunk(in, n) {
			l.take(l.client.Data(part, nil))
		}
		return
	}
	l.take(l.client.Data(in, nil))
}

func (l *link) wake() {
	out, next, err := l.client.Wake(nil)
	l.wakeAt = next
	l.take(out, err)
}

// take sends what a call of the client returned.
func (l *link) take(out []byte, err error) {
	l.up = append(l.up, out...)
	for range l.units(out) {
		l.sent = append(l.sent, l.rig.now)
	}
	if l.err = err; err != nil {
		l.close(err)
	}
}

// answer has the server answer all that is under way to it.
func (l *link) answer() {
	if l.closed || len(l.up) == 0 {
		return
	}
	var out []byte
	for _, unit := range l.units(l.up) {
		o, err := l.server.Data(unit, nil)
		if err != nil {
			l.rig.t.Fatalf("the server refuses what it got: %v", err)
		}
		out = append(out, o...)
	}
	l.up = nil
	if l.rig.mangle != nil {
		out = l.pack(l.rig.mangle(l, l.messages(out)))
	}
	l.down = append(l.down, out...)
}

func (l *link) close(err error) {
	l.closed = true
	l.client.Close(err)
	l.server.Close(nil)
}

func (l *link) datagram() int {
	if cfg := &l.rig.load.cfg; cfg.Protocol.Datagram {
		return cfg.Payload
	}
	return 0
}

// units cuts a stream of whole units into them, framing included.
func (l *link) units(stream []byte) (list [][]byte) {
	for len(stream) > 0 {
		n := l.datagram()
		if n == 0 {
			n = 4 + int(binary.BigEndian.Uint32(stream))
		}
		list = append(list, stream[:n:n])
		stream = stream[n:]
	}
	return list
}

// messages cuts a stream of whole units into copies of their messages.
func (l *link) messages(stream []byte) (list [][]byte) {
	for _, unit := range l.units(stream) {
		list = append(list, bytes.Clone(unit[l.rig.load.cfg.Protocol.Overhead:]))
	}
	return list
}

// pack frames messages again.
func (l *link) pack(list [][]byte) (stream []byte) {
	for _, msg := range list {
		stream = l.client.codec.Append(stream, msg, nil)
	}
	return stream
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func header(t *testing.T, msg []byte) message.Header {
	t.Helper()
	h, ok := message.Parse(msg)
	if !ok {
		t.Fatalf("no header in % x", msg)
	}
	return h
}

// wantCounts compares all counts of a target but how many messages and reads
// there were; what want does not name is to be 0.
func wantCounts(t *testing.T, y control.Tally, want map[string]int64) {
	t.Helper()
	got := maps.Clone(y.Counts)
	maps.DeleteFunc(got, func(key string, n int64) bool {
		_, named := want[key]
		return !named && (n == 0 || key == control.CountSent || key == control.CountReceived || key == control.CountReads)
	})
	if !maps.Equal(got, want) {
		t.Errorf("counts %v, want %v; first errors %q", got, want, y.FirstErrors)
	}
}

func histogram(t *testing.T, y control.Tally) *hist.Histogram {
	t.Helper()
	h, err := hist.Decode(y.RTT)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
