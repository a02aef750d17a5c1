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
