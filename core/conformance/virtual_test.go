package conformance_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

// paced sends a number at each of its intended times, start + i × gap, and
// notes when it did.
type paced struct {
	script
	clock func() int64
	start int64
	gap   int64
	n     int
	sent  []int64
}

func (p *paced) Wake(out []byte) ([]byte, int64, error) {
	for len(p.sent) < p.n && p.due() <= p.clock() {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p.sent)))
		p.sent = append(p.sent, p.clock())
	}
	if len(p.sent) == p.n {
		return out, 0, nil
	}
	return out, p.due(), nil
}

func (p *paced) due() int64 { return p.start + int64(len(p.sent))*p.gap }

func TestPacedSendsAtItsIntendedTimes(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{Latency: 30_000})
	p := &paced{clock: m.Clock, start: m.Clock() + 500, gap: 1_000_000, n: 200}
	server := &script{data: func(in, out []byte) ([]byte, error) { return append(out, in...), nil }}
	pair(t, m, transport.Config{}, func() transport.Session { return server }, p)
	run(t, m, func() bool { return len(p.sent) == p.n })
	for i, at := range p.sent {
		if want := p.start + int64(i)*p.gap; at != want {
			t.Fatalf("message %d was sent %v off its time", i, time.Duration(at-want))
		}
	}
}

// TestStalledServerDelaysNoIntendedTime: work that holds the only thread up
// makes sends late, and none of them is lost.
func TestStalledServerDelaysNoIntendedTime(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	p := &paced{clock: m.Clock, start: m.Clock(), gap: 1_000_000, n: 1000}
	stalled := false
	server := &script{data: func(in, out []byte) ([]byte, error) {
		if !stalled && len(p.sent) > 100 {
			stalled = true
			m.Advance(500_000_000)
		}
		return append(out, in...), nil
	}}
	pair(t, m, transport.Config{}, func() transport.Session { return server }, p)
	run(t, m, func() bool { return len(p.sent) == p.n })
	late := 0
	for i, at := range p.sent {
		if at > p.start+int64(i)*p.gap {
			late++
		}
	}
	if late != 499 { // the one that is due as the stall ends is on time
		t.Errorf("%d sends were late after a stall of 500 gaps, want 499", late)
	}
}

func TestWakeIsNeverEarlyAndAsked(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	w := &waker{m: m, t: t}
	_, d := pair(t, m, transport.Config{}, func() transport.Session { return &script{} }, w)
	run(t, m, func() bool { return w.wakes == 1 })
	w.next = m.Clock() + 1000
	d.Wake() // sets the time
	run(t, m, func() bool { return w.wakes == 3 })
	if m.Clock() != w.next {
		t.Errorf("woken at %d, asked for %d", m.Clock(), w.next)
	}
	w.next = m.Clock() + 1000
	d.Wake()
	run(t, m, func() bool { return w.wakes == 4 })
	w.next = 0 // replaces the time that stands
	d.Wake()
	run(t, m, nil)
	if w.wakes != 5 {
		t.Errorf("woken %d times, want 5: the replaced time must not come", w.wakes)
	}
}

type waker struct {
	script
	m     *conformance.Memory
	t     *testing.T
	next  int64
	wakes int
}

func (w *waker) Wake(out []byte) ([]byte, int64, error) {
	w.wakes++
	if w.next <= w.m.Clock() {
		return out, 0, nil
	}
	return out, w.next, nil
}

// sliced is a load for one of several targets: it keeps a window in flight
// while the clock is in one of its own slices.
type sliced struct {
	script
	clock    func() int64
	begin    int64
	length   int64 // of a slice
	own, of  int64 // its slices are those with index % of == own
	slices   int64 // in all
	window   int
	inFlight int
	trips    []int // by slice
}

func (s *sliced) slice() int64 { return (s.clock() - s.begin) / s.length }

func (s *sliced) refill(out []byte) []byte {
	now := s.slice()
	if now >= s.slices || now%s.of != s.own {
		return out
	}
	for ; s.inFlight < s.window; s.inFlight++ {
		out = append(out, '.')
	}
	return out
}

func (s *sliced) Wake(out []byte) ([]byte, int64, error) {
	next := s.slice() + 1
	for next < s.slices && next%s.of != s.own {
		next++
	}
	if next >= s.slices {
		return s.refill(out), 0, nil
	}
	return s.refill(out), s.begin + next*s.length, nil
}

func (s *sliced) Data(in, out []byte) ([]byte, error) {
	s.inFlight -= len(in)
	if now := s.slice(); now < s.slices {
		s.trips[now] += len(in)
	}
	return s.refill(out), nil
}

// TestInterleavedTargetsTakeTurns: one dialled group a target, slices by the
// clock. Each has round trips in its own slices; what was in flight at an edge
// comes back in the next slice, since nothing is drained in between.
func TestInterleavedTargetsTakeTurns(t *testing.T) {
	const slices, length, latency, window = 20, int64(40_000_000), int64(30_000), 4
	m := conformance.NewMemory(conformance.Conditions{Latency: latency})
	begin := m.Clock()
	loads := make([]*sliced, 2)
	for i := range loads {
		loads[i] = &sliced{
			clock: m.Clock, begin: begin, length: length, own: int64(i), of: 2, slices: slices,
			window: window, trips: make([]int, slices),
		}
		echo := func() transport.Session {
			return &script{data: func(in, out []byte) ([]byte, error) { return append(out, in...), nil }}
		}
		pair(t, m, transport.Config{}, echo, loads[i])
	}
	run(t, m, nil)
	full := int(length/(2*latency)) * window
	for i, l := range loads {
		if l.inFlight != 0 {
			t.Errorf("target %d has %d messages in flight at the end", i, l.inFlight)
		}
		for k, trips := range l.trips {
			switch own := k%2 == i; {
			case own && (trips < full-window || trips > full+window):
				t.Errorf("target %d had %d round trips in its slice %d, want about %d", i, trips, k, full)
			case !own && k > i && trips != window:
				t.Errorf("target %d had %d round trips in the foreign slice %d, want the %d in flight at its edge", i, trips, k, window)
			}
		}
	}
}

func TestRunsAreRepeatable(t *testing.T) {
	once := func(seed uint64) []int64 {
		m := conformance.NewMemory(conformance.Conditions{Seed: seed, Cut: conformance.Random(), Latency: 777})
		var times []int64
		client := &frameClient{send: [][]byte{pattern(1, 100), pattern(2, 1000)}}
		server := &script{data: func(in, out []byte) ([]byte, error) {
			times = append(times, int64(len(in)))
			return append(out, in...), nil
		}}
		pair(t, m, transport.Config{}, func() transport.Session { return server }, client)
		run(t, m, func() bool { return len(client.closed) > 0 })
		return times
	}
	if a, b := once(1), once(1); !slices.Equal(a, b) {
		t.Errorf("one seed gave two runs: %v and %v", a, b)
	}
	if a, b := once(1), once(2); slices.Equal(a, b) {
		t.Errorf("two seeds gave one run: %v", a)
	}
}
