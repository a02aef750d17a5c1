package load

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
)

// fakeCPU gives the rig's targets CPU clocks that charge cost for each message
// answered and lag while the target is at work and for a millisecond after, as
// those of other processes do.
func fakeCPU(r *rig, cost int64) {
	busy := make([]int64, len(r.servers))
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		busy[l.target] = r.now
		return echoes
	}
	r.load.cfg.TargetCPU = func(target int) int64 {
		n := r.servers[target].Counts().Messages * cost
		if r.now-busy[target] < ms {
			n -= cost / 2
		}
		return n
	}
}

func TestServerCPUOfOneTarget(t *testing.T) {
	r := newRig(t, Config{}, 1).verified()
	r.load.cfg.TargetCPU = func(int) int64 { return r.now / 4 } // a quarter of one CPU
	r.load.cfg.OwnCPU = func() int64 { return r.now / 2 }
	r.load.cfg.Working = func() int64 { return r.now / 8 }
	r.start(
		control.Slice{Length: 10 * ms, Settle: ms},
		control.Slice{Length: 20 * ms, Settle: 4 * ms, Counted: true},
		control.Slice{Length: 10 * ms, Counted: true},
	)
	r.finish()
	for i, s := range r.result().Slices {
		length := s.End - s.Start
		if s.ServerCPU != length/4 || s.LoadCPU != length/2 || s.Working != length/8 {
			t.Errorf("slice %d of %d ns: CPU of the server %d, of the load %d, working %d; want a quarter, a half, an eighth", i, length, s.ServerCPU, s.LoadCPU, s.Working)
		}
		if s.Served != s.RoundTrips {
			t.Errorf("slice %d: served %d, want the %d round trips of the window that was charged", i, s.Served, s.RoundTrips)
		}
	}
}

// Of several, each is charged from idle to idle, so that its clock's lag does
// not show and CPU and messages served match exactly, in the last slice too.
func TestServerCPUOfSeveralTargets(t *testing.T) {
	const cost = 1000
	r := newRig(t, Config{Clients: 2}, 3).verified()
	fakeCPU(r, cost)
	r.load.cfg.OwnCPU = func() int64 { return r.now / 2 }
	r.runFor(2 * ms) // all idle
	var plan []control.Slice
	for _, target := range []int{0, 1, 2, 1, 0, 2, 0, 1} {
		plan = append(plan, control.Slice{Target: target, Length: 10 * ms, Settle: 3 * ms, Counted: true})
	}
	r.start(plan...)
	r.finish()
	res := r.result()
	for i, s := range res.Slices {
		if s.ServerCPU != s.Served*cost {
			t.Errorf("slice %d: charged %d for %d messages, want %d", i, s.ServerCPU, s.Served, s.Served*cost)
		}
		if s.Served <= s.RoundTrips {
			t.Errorf("slice %d: served %d, want more than the %d of the window, settling and draining included", i, s.Served, s.RoundTrips)
		}
		if want := (s.End - s.Start) / 2; s.LoadCPU != want {
			t.Errorf("slice %d: the load used %d in its window, want %d", i, s.LoadCPU, want)
		}
	}
}

func TestClocksThatCannotBeRead(t *testing.T) {
	for name, cpu := range map[string]func(int) int64{"none": nil, "unreadable": func(int) int64 { return -1 }} {
		for targets := 1; targets <= 2; targets++ {
			r := newRig(t, Config{}, targets).verified()
			r.load.cfg.TargetCPU = cpu
			r.start(abab()[:targets]...)
			r.finish()
			for i, s := range r.result().Slices {
				if s.ServerCPU != -1 || s.LoadCPU != -1 || s.Working != -1 {
					t.Errorf("%s, %d targets, slice %d: %+v, want -1 for every clock", name, targets, i, s)
				}
			}
		}
	}
}

// The edges pass on time although nothing comes back, and what was never idle
// is not read.
func TestClocksAreReadWithoutTraffic(t *testing.T) {
	r := newRig(t, Config{}, 2).verified()
	r.load.cfg.TargetCPU = func(int) int64 { return r.now / 4 }
	r.load.cfg.OwnCPU = func() int64 { return r.now / 2 }
	r.mangle = func(*link, [][]byte) [][]byte { return nil }
	r.start(abab()[:3]...)
	r.runFor(1000 * ms)
	if closed(r.load.Done()) {
		t.Error("Done is closed with messages in flight")
	}
	res := r.result()
	for i, s := range res.Slices {
		if want := (s.End - s.Start) / 2; s.LoadCPU != want || s.RoundTrips != 0 {
			t.Errorf("slice %d: the load used %d, want %d; %d round trips, want 0", i, s.LoadCPU, want, s.RoundTrips)
		}
	}
	// From the slice's start until the next one has settled.
	if got, want := res.Slices[0].ServerCPU, 13*ms/4; got != want {
		t.Errorf("slice 0: server CPU %d, want %d", got, want)
	}
	if got := res.Slices[2].ServerCPU; got != -1 {
		t.Errorf("the last slice: server CPU %d, want -1: its target never came to rest", got)
	}
}
