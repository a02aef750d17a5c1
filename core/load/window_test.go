package load

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
)

// A server that answers as it pleases must never get more than the window, and
// the load refills exactly what came back.
func TestWindowIsFullAndNeverExceeded(t *testing.T) {
	for _, window := range []int{1, 2, 16, 64} {
		r := newRig(t, Config{Window: window}, 1).verified()
		rng := rand.New(rand.NewPCG(1, uint64(window)))
		var held [][]byte
		r.mangle = func(l *link, echoes [][]byte) [][]byte {
			held = append(held, echoes...)
			if len(held) > window {
				t.Fatalf("window %d: %d messages in flight", window, len(held))
			}
			if len(held) < window {
				t.Fatalf("window %d: only %d messages in flight after a refill", window, len(held))
			}
			n := 1 + rng.IntN(len(held))
			give := held[:n:n]
			held = held[n:]
			return give
		}
		r.start(control.Slice{Length: 50 * ms, Counted: true})
		r.runFor(50*ms - r.tick) // the whole plan but its end
		c := r.result().Targets[0].Counts
		if c[control.CountReceived] < 400 || c[control.CountUnfinished] != int64(window) {
			t.Errorf("window %d: %v, want hundreds received and a whole window in flight", window, c)
		}
	}
}

func TestRTTIsExact(t *testing.T) {
	for _, rtt := range []int64{us, 123_457, 7*ms + 1, 1001 * ms} {
		r := newRig(t, Config{Window: 3, Clients: 2}, 1).verified()
		r.tick = rtt
		r.start(control.Slice{Length: 20*rtt + rtt/2, Counted: true})
		r.run(22)
		res := r.result()
		s, y := res.Slices[0], res.Targets[0]
		if want := int64(20 * 3 * 2); s.RoundTrips != want || s.RTTSum != want*rtt {
			t.Errorf("RTT %d: %d round trips of %d ns altogether, want %d of %d", rtt, s.RoundTrips, s.RTTSum, want, want*rtt)
		}
		h := histogram(t, y)
		if y.MaxRTT != rtt || h.Count() != s.RoundTrips {
			t.Errorf("RTT %d: maximum %d, %d in the histogram; want %d, %d", rtt, y.MaxRTT, h.Count(), rtt, s.RoundTrips)
		}
		for _, p := range []float64{1, 50, 99} { // three digits, as the histogram keeps them
			if got := h.Percentile(p); math.Abs(float64(got-rtt)) > float64(rtt)/1000 {
				t.Errorf("RTT %d: percentile %g is %d", rtt, p, got)
			}
		}
		if got := r.load.LongestRTT(); got != rtt {
			t.Errorf("RTT %d: LongestRTT() = %d", rtt, got)
		}
	}
}

// Messages answered at different times have their own RTTs, though they were
// sent at once, and those of one read share one.
func TestRTTOfMessagesSentTogether(t *testing.T) {
	r := newRig(t, Config{Window: 4}, 1).verified()
	r.start(control.Slice{Length: 100 * ms, Counted: true})
	l := r.links[0]
	echoes := l.messages(l.down)
	l.down = nil
	var want int64
	for _, part := range []struct {
		after int64
		n     int
	}{{10 * us, 1}, {5 * us, 2}, {ms, 1}} {
		r.now += part.after
		want += int64(part.n) * (r.now - 1000*ms - 2*r.tick)
		l.data(l.pack(echoes[:part.n]))
		echoes = echoes[part.n:]
	}
	res := r.result()
	if s := res.Slices[0]; s.RoundTrips != 4 || s.RTTSum != want {
		t.Errorf("%d round trips of %d ns altogether, want 4 of %d", s.RoundTrips, s.RTTSum, want)
	}
	if got, want := res.Targets[0].MaxRTT, ms+15*us; got != want {
		t.Errorf("MaxRTT = %d, want %d", got, want)
	}
}

func TestRTTOverRange(t *testing.T) {
	r := newRig(t, Config{Window: 2}, 1).verified()
	r.tick = 61_000 * ms
	r.start(control.Slice{Length: 200_000 * ms, Counted: true})
	r.finish()
	res := r.result()
	y := res.Targets[0]
	wantCounts(t, y, map[string]int64{control.CountOverRange: 6})
	if s := res.Slices[0]; s.RoundTrips != 6 || s.RTTSum != 6*r.tick || y.MaxRTT != r.tick || histogram(t, y).Count() != 6 {
		t.Errorf("%d round trips, sum %d, maximum %d, histogram %d; want 6, %d, %d, 6", s.RoundTrips, s.RTTSum, y.MaxRTT, histogram(t, y).Count(), 6*r.tick, r.tick)
	}
}

// In flight = rate × RTT: over a window of time the RTTs of all that came back
// add up to what was in flight in each moment of it, but for the edges.
func TestLittlesLaw(t *testing.T) {
	const clients, window = 5, 8
	r := newRig(t, Config{Clients: clients, Window: window, Shards: 2}, 1).verified()
	rng := rand.New(rand.NewPCG(3, 4))
	held := make(map[*link][][]byte)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		held[l] = append(held[l], echoes...)
		return nil
	}
	const length = 500 * ms
	r.start(control.Slice{Length: 20 * ms}, control.Slice{Length: length, Counted: true})
	for !closed(r.load.Done()) {
		r.run(1)
		for _, l := range r.links { // each answers a few, when it pleases
			if n := min(rng.IntN(2*window), len(held[l])); n > window/2 || r.now > 1600*ms {
				l.down = l.pack(held[l][:n])
				held[l] = held[l][n:]
			}
		}
	}
	res := r.result()
	got := float64(res.Slices[1].RTTSum)
	want := float64(clients * window * length)
	// Each message in flight at an edge is off by one RTT at most.
	if edge := float64(2 * clients * window * res.Targets[0].MaxRTT); math.Abs(got-want) > edge {
		t.Errorf("the RTTs add up to %g ns, want clients × window × time = %g ± %g", got, want, edge)
	}
	if got, want := res.Slices[1].RTTSum/res.Slices[1].RoundTrips, int64(histogram(t, res.Targets[0]).Mean()); math.Abs(float64(got-want)) > float64(want)/500 {
		t.Errorf("the mean RTT is %d by the sum and %d by the histogram", got, want)
	}
}

// The sequence number wraps within half a minute at full speed, unnoticed.
func TestSequenceWraps(t *testing.T) {
	r := newRig(t, Config{Window: 8, CheckAll: true, Work: 3}, 1)
	r.links[0].client.next = 1<<32 - 21
	r.verified()
	rng := rand.New(rand.NewPCG(5, 6))
	var held [][]byte
	last := uint32(0)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		held = append(held, echoes...)
		n := 1 + rng.IntN(len(held)) // runs are cut everywhere
		give := held[:n:n]
		held = held[n:]
		for _, msg := range echoes {
			last = header(t, msg).Seq
		}
		return give
	}
	r.start(control.Slice{Length: 20 * ms, Counted: true})
	r.runFor(20 * ms)
	r.mangle = nil
	r.links[0].data(r.links[0].pack(held))
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, nil)
	if last > 1<<31 {
		t.Fatalf("the last sequence number is %#x: nothing wrapped", last)
	}
	if got := y.Counts[control.CountSent]; int64(last) != got-21 {
		t.Errorf("%d sent, yet the last sequence number is %d", got, last)
	}
}
