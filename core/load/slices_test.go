package load

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
)

// With one tick of RTT and a window of 4, four echoes arrive in each tick after
// the first; the end of a slice belongs to the next one.
func TestSlicesOfOneTarget(t *testing.T) {
	r := newRig(t, Config{}, 1).verified()
	r.start(
		control.Slice{Length: 10 * ms}, // warm-up
		control.Slice{Length: 10 * ms, Settle: 2 * ms, Counted: true},
		control.Slice{Length: 10 * ms, Counted: true},
	)
	r.finish()
	res := r.result()
	want := []control.Sample{
		{Start: 0, End: 10 * ms, RoundTrips: 4 * 99},
		{Start: 12 * ms, End: 20 * ms, RoundTrips: 4 * 80},
		{Start: 20 * ms, End: 30 * ms, RoundTrips: 4 * 100},
	}
	for i, got := range res.Slices {
		w := want[i]
		w.RTTSum, w.Served = w.RoundTrips*r.tick, w.RoundTrips
		w.ServerCPU, w.LoadCPU, w.Working = -1, -1, -1
		if got != w {
			t.Errorf("slice %d: %+v, want %+v", i, got, w)
		}
	}
	y := res.Targets[0]
	wantCounts(t, y, nil)
	if got, want := histogram(t, y).Count(), int64(4*180); got != want {
		t.Errorf("%d RTTs in the histogram, want the %d of the counted windows", got, want)
	}
	if got, want := y.Counts[control.CountReceived], int64(4*300); got != want {
		t.Errorf("received %d over the whole plan, want %d", got, want)
	}
}

// abab is a plan of two targets that take turns, after a warm-up of both.
func abab() []control.Slice {
	var plan []control.Slice
	for i := range 8 {
		plan = append(plan, control.Slice{Target: i % 2, Length: 10 * ms, Settle: 3 * ms, Counted: i > 1})
	}
	return plan
}

func TestTargetsTakeTurns(t *testing.T) {
	const clients, window = 3, 4
	r := newRig(t, Config{Clients: clients, Window: window, Shards: 2}, 2).verified()
	plan, begin := abab(), r.now
	for _, l := range r.links {
		l.sent = nil
	}
	r.start(plan...)
	r.finish()
	res := r.result()

	sent := make([]int64, len(plan)) // by the slice that was on
	for i, l := range r.links {
		turns := make(map[int64]bool)
		for _, at := range l.sent {
			slice := (at - begin) / (10 * ms)
			if slice >= int64(len(plan)) || plan[slice].Target != l.target {
				t.Fatalf("session %d sent %d ns into the plan, which is not its turn", i, at-begin)
			}
			sent[slice]++
			turns[at-begin] = true
		}
		for j, s := range plan {
			start := int64(j) * 10 * ms
			if s.Target == l.target && !turns[start] {
				t.Errorf("session %d sent nothing at the very start of slice %d", i, j)
			}
			// The last refill before the switch is still out at the switch.
			if s.Target == l.target && !turns[start+10*ms-r.tick] {
				t.Errorf("session %d drained before the end of slice %d", i, j)
			}
		}
	}
	var served [2]int64
	for i, s := range res.Slices {
		if want := int64(clients * window * 70); i > 0 && s.RoundTrips != want {
			t.Errorf("slice %d: %d round trips in its window, want %d", i, s.RoundTrips, want)
		}
		if s.Served != sent[i] {
			t.Errorf("slice %d: served %d, want the %d sent in it", i, s.Served, sent[i])
		}
		served[plan[i].Target] += s.Served
	}
	for i, y := range res.Targets {
		wantCounts(t, y, nil)
		if got := y.Counts[control.CountReceived]; got != served[i] {
			t.Errorf("target %d: %d received, but %d served over all slices", i, got, served[i])
		}
		if got, want := r.servers[i].Counts().Messages, served[i]+clients; got != want {
			t.Errorf("target %d: the server answered %d, want %d with the verification", i, got, want)
		}
		if got, want := histogram(t, y).Count(), int64(3*clients*window*70); got != want {
			t.Errorf("target %d: %d RTTs in the histogram, want %d", i, got, want)
		}
	}
}

// An echo that comes back after its target's slice belongs to no window.
func TestLateEchoesAreBesideTheWindow(t *testing.T) {
	r := newRig(t, Config{Window: 4}, 2).verified()
	late := r.now + 10*ms - 3*r.tick
	var held [][]byte
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if l.target == 0 && r.now >= late {
			held = append(held, echoes...)
			return nil
		}
		return echoes
	}
	r.start(abab()[:2]...)
	r.runFor(15 * ms)
	r.links[0].data(r.links[0].pack(held)) // five milliseconds into the other's slice
	r.mangle = nil
	r.finish()
	res := r.result()
	if got, want := res.Slices[0].RoundTrips, int64(4*68); got != want {
		t.Errorf("slice 0: %d round trips in its window, want %d", got, want)
	}
	if got, want := res.Slices[0].Served, int64(4*98); got != want {
		t.Errorf("slice 0: served %d, want %d", got, want)
	}
	if got, want := res.Slices[1].RoundTrips, int64(4*70); got != want {
		t.Errorf("slice 1: %d round trips, want %d: the late ones are another target's", got, want)
	}
}

// Warm-up and measuring are one stretch of load: it lasts as long as both, and
// only what comes back in the counted part counts.
func TestLoadLastsAsLongAsThePlan(t *testing.T) {
	r := newRig(t, Config{Window: 1}, 1).verified()
	r.tick = 10 * ms
	begin := r.now
	r.links[0].sent = nil
	r.start(control.Slice{Length: 2000 * ms}, control.Slice{Length: 3000 * ms, Counted: true})
	r.finish()
	res := r.result()
	if got, want := len(r.links[0].sent), 500; got != want {
		t.Errorf("%d messages sent, want %d in 5 s", got, want)
	}
	if got, want := r.links[0].sent[499]-begin, 4990*ms; got != want {
		t.Errorf("the last message was sent %d ns into the plan, want %d", got, want)
	}
	if got, want := histogram(t, res.Targets[0]).Count(), int64(300); got != want {
		t.Errorf("%d RTTs counted, want %d in 3 s", got, want)
	}
}

func TestPlanLooksUp(t *testing.T) {
	p, err := newPlan(abab(), 2)
	if err != nil {
		t.Fatal(err)
	}
	p.begin(1000*ms, &Config{})
	for _, tc := range []struct {
		after     int64 // the plan's start
		slice     int
		turn      [2]int64
		lastSlice [2]int
	}{
		{0, 0, [2]int64{20 * ms, 10 * ms}, [2]int{-1, -1}},
		{10*ms - 1, 0, [2]int64{20 * ms, 10 * ms}, [2]int{-1, -1}},
		{10 * ms, 1, [2]int64{20 * ms, 30 * ms}, [2]int{0, -1}},
		{25 * ms, 2, [2]int64{40 * ms, 30 * ms}, [2]int{0, 1}},
		{75 * ms, 7, [2]int64{80 * ms, 80 * ms}, [2]int{6, 5}},
		{80 * ms, 8, [2]int64{80 * ms, 80 * ms}, [2]int{6, 7}},
		{1 << 50, 8, [2]int64{80 * ms, 80 * ms}, [2]int{6, 7}},
	} {
		now := 1000*ms + tc.after
		if got := p.at(0, now); got != tc.slice {
			t.Errorf("%d ns in: slice %d, want %d", tc.after, got, tc.slice)
		}
		for target := range 2 {
			if got := p.nextTurn(target, now) - 1000*ms; got != tc.turn[target] {
				t.Errorf("%d ns in: the next turn of target %d is at %d, want %d", tc.after, target, got, tc.turn[target])
			}
			if got := p.lastSlice(target, tc.slice); got != tc.lastSlice[target] {
				t.Errorf("%d ns in: the last slice of target %d is %d, want %d", tc.after, target, got, tc.lastSlice[target])
			}
		}
	}
}

// A target talked to without a break takes one turn.
func TestNeighbouringSlicesAreOneTurn(t *testing.T) {
	p, err := newPlan([]control.Slice{{Length: 10 * ms}, {Length: 10 * ms}, {Target: 1, Length: 10 * ms}, {Length: 10 * ms}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	p.begin(0, &Config{})
	for _, tc := range []struct{ now, want int64 }{{0, 30 * ms}, {15 * ms, 30 * ms}, {30 * ms, 40 * ms}} {
		if got := p.nextTurn(0, tc.now); got != tc.want {
			t.Errorf("%d ns in: the next turn is at %d, want %d", tc.now, got, tc.want)
		}
	}
}
