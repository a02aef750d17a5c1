package rawpoll

import (
	"math/rand/v2"
	"testing"
)

// TestTimersOrder arms, moves and stops timers at random and wants the rest out
// in order of time, none early.
func TestTimersOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var ts timers
	list := make([]timer, 500)
	want := map[*timer]int64{}
	for range 5000 {
		x := &list[rng.IntN(len(list))]
		if rng.IntN(4) == 0 {
			ts.stop(x)
			delete(want, x)
			continue
		}
		when := 1 + rng.Int64N(1000)
		ts.set(x, when)
		want[x] = when
	}
	for now := int64(1); now <= 1000; now++ {
		for x := ts.due(now); x != nil; x = ts.due(now) {
			if got := want[x]; got != now {
				t.Fatalf("a timer for %d was due at %d", got, now)
			}
			if ts.armed(x) {
				t.Fatal("a timer that ran out is still armed")
			}
			delete(want, x)
		}
	}
	if len(want) > 0 || ts.next.Load() != 0 {
		t.Errorf("%d timers never ran out, next is %d; want none and 0", len(want), ts.next.Load())
	}
}

func TestTimersBusy(t *testing.T) {
	var ts timers
	x, y := timer{busy: true}, timer{}
	if first := ts.set(&x, 5); !first {
		t.Error("the only timer is not the first")
	}
	if first := ts.set(&y, 9); first {
		t.Error("a later timer is the first")
	}
	ts.set(&x, 7)
	if got := ts.busy.Load(); got != 1 {
		t.Errorf("%d busy timers armed, want 1", got)
	}
	if got := ts.due(7); got != &x {
		t.Error("the busy timer is not due")
	}
	ts.stop(&x)
	if got := ts.busy.Load(); got != 0 {
		t.Errorf("%d busy timers armed, want 0", got)
	}
	if got := ts.next.Load(); got != 9 {
		t.Errorf("next at %d, want 9", got)
	}
}
