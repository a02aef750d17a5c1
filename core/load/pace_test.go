package load

import (
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

// The rig calls every tick: what is due shortly before the end of a turn has its
// call a moment after it, and is sent all the same.
func TestLastOfATurnIsSentAMomentLate(t *testing.T) {
	r := newRig(t, Config{Clients: 2, Rate: 9999}, 2).verified()
	for _, l := range r.links {
		l.sent = nil
	}
	begin := r.now
	r.start(abab()...)
	r.finish()
	beyond := 0
	for _, l := range r.links {
		for _, at := range l.sent {
			if slice := (at - begin) / (10 * ms); int(slice)%2 == l.target {
				continue
			}
			if beyond++; (at-begin)%(10*ms) != 0 {
				t.Errorf("target %d: a message was sent %d ns into the plan, in a slice of the other", l.target, at-begin)
			}
		}
	}
	if beyond == 0 {
		t.Error("no message was due between the last call of a turn and its end: the test shows nothing")
	}
	for i, y := range r.result().Targets {
		if n := y.Counts; n[control.CountSent] != 400 || n[control.CountUnsent] != 0 || n[control.CountTardy] != 0 {
			t.Errorf("target %d: %v, want 400 sent in 40 ms", i, n)
		}
	}
}

// What waits for a place when the turn ends is not sent in a slice of the other
// target, nor in the next turn: it is unsent.
func TestBacklogEndsWithTheTurn(t *testing.T) {
	const window = 2
	r := newRig(t, Config{Clients: 2, Window: window, Rate: 20_000}, 2).verified()
	begin := r.now
	held := make(map[*link][][]byte)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if at := r.now - begin; l.target == 0 && at >= 6*ms && at < 12*ms {
			held[l] = append(held[l], echoes...)
			return nil
		}
		return echoes
	}
	links, inTurn := r.links[:2], 0
	for _, l := range links {
		l.sent = nil
	}
	r.start(abab()...)
	r.runFor(12 * ms)
	for _, l := range links {
		inTurn += len(l.sent)
		if got := len(held[l]); got != window {
			t.Fatalf("%d in flight in the pause, want a window", got)
		}
		l.sent = nil
		l.data(l.pack(held[l])) // two places, long after the turn
	}
	r.finish()
	for _, l := range links {
		if first := l.sent[0] - begin; first < 20*ms {
			t.Errorf("a message was sent %d ns into the plan, in a slice of the other", first)
		}
	}
	n := r.result().Targets[0].Counts
	if n[control.CountSent]+n[control.CountUnsent] != 800 || n[control.CountUnsent] != int64(200-inTurn) || inTurn < 120 {
		t.Errorf("%v, want 800 due and those of the first turn unsent that were not among its %d", n, inTurn)
	}
}

func TestTardyAfter(t *testing.T) {
	for _, c := range []struct {
		rate float64
		want time.Duration
	}{{1e9, time.Millisecond}, {100, time.Millisecond}, {10, 10 * time.Millisecond}, {0.5, 200 * time.Millisecond}, {1e-300, time.Hour}} {
		if got := TardyAfter(c.rate); got != c.want {
			t.Errorf("at %g/s: %v, want %v", c.rate, got, c.want)
		}
	}
}

// In steady state the open loop allocates nothing either, with and without a
// backlog.
func TestNothingAllocatesInAnOpenLoop(t *testing.T) {
	for name, trip := range map[string]int64{"in time": ms, "with a backlog": 20 * ms} {
		for _, gaps := range []string{control.GapsFixed, control.GapsExponential} {
			t.Run(name+" "+gaps, func(t *testing.T) {
				r := newRig(t, Config{Window: 16, Rate: 1000, Gaps: gaps}, 1).verified()
				r.start(control.Slice{Length: 1 << 60, Counted: true})
				l := r.links[0]
				var up, down []byte
				must := func(out []byte, err error) []byte {
					if err != nil {
						t.Fatal(err)
					}
					return out
				}
				step := func() {
					r.now += trip
					var err error
					up = must(l.client.Data(down, up[:0]))
					up, _, err = l.client.Wake(up)
					down = append(down[:0], must(l.server.Data(must(up, err), nil))...)
				}
				down = append(down, l.down...)
				for range 200 {
					step()
				}
				if n := testing.AllocsPerRun(100, step); n > 0 {
					t.Errorf("%g allocations in a step", n)
				}
				n := r.result().Targets[0].Counts
				if waits := n[control.CountBlocked] > 1000; waits != (trip > ms) || n[control.CountReceived] < 100 {
					t.Errorf("%v: a backlog is not there or not expected", n)
				}
			})
		}
	}
}
