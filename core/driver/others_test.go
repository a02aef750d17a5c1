package driver

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

const ms = time.Millisecond

// did is what happened on two CPUs in one stretch of 200 ms.
type did struct{ idle, steal, interrupts, ours time.Duration }

// seenOf adds stretches up to sightings.
func seenOf(stretches ...did) []sighting {
	list := []sighting{{at: time.Unix(0, 0), ours: time.Hour}}
	for _, d := range stretches {
		s := list[len(list)-1]
		s.at = s.at.Add(glance)
		s.cpus.Idle += d.idle
		s.cpus.Steal += d.steal
		s.cpus.Interrupts += d.interrupts
		s.ours += d.ours
		list = append(list, s)
	}
	return list
}

func TestOthers(t *testing.T) {
	quiet := did{idle: 100 * ms, ours: 300 * ms}
	// A tick more than is left of the limit: 3 % and 10 ms of 200 ms.
	busy := did{idle: 100 * ms, ours: 300*ms - 34*ms}
	stolen := did{idle: 66 * ms, steal: 34 * ms, ours: 300 * ms}
	near := did{idle: 100 * ms, ours: 300*ms - 30*ms}
	many := func(n int, d did) (list []did) {
		for range n {
			list = append(list, d)
		}
		return list
	}
	for _, tt := range []struct {
		name       string
		stretches  []did
		apart      bool
		over       int
		cpu, steal float64
		disturbed  bool
	}{
		{"nobody", many(10, quiet), false, 0, 0, 0, false},
		{"one stretch in ten", append(many(9, quiet), busy), false, 1, 0.85, 0, false},
		{"two in ten", append(many(8, quiet), busy, busy), false, 2, 1.7, 0, true},
		{"the hypervisor in two", append(many(8, quiet), stolen, stolen), false, 2, 0, 1.7, true},
		{"somewhat all the time", many(10, near), false, 0, 7.5, 0, true},
		{"more of ours than there was", many(5, did{idle: 120 * ms, ours: 300 * ms}), false, 0, 0, 0, false},
		{"interrupts on nobody's clock", many(5, did{idle: 100 * ms, interrupts: 60 * ms, ours: 240 * ms}), true, 0, 0, 0, false},
		{"interrupts on our clock", many(5, did{idle: 100 * ms, interrupts: 60 * ms, ours: 300 * ms}), false, 0, 0, 0, false},
	} {
		got := others(seenOf(tt.stretches...), 2, tt.apart, -1)
		want := record.Others{Stretches: len(tt.stretches), Over: tt.over, Disturbed: tt.disturbed}
		if got.Stretches != want.Stretches || got.Over != want.Over || got.Disturbed != want.Disturbed ||
			math.Abs(got.CPUPercent-tt.cpu) > 1e-9 || math.Abs(got.StealPercent-tt.steal) > 1e-9 {
			t.Errorf("%s: %+v, want %+v with %g %% and %g %%", tt.name, *got, want, tt.cpu, tt.steal)
		}
	}
	if got := others(seenOf(), 2, false, -1); got != nil {
		t.Errorf("from one sighting: %+v, want nothing", got)
	}
	// What nobody used was the kernel's own, unless other processes say otherwise.
	whole := seenOf(many(10, near)...)
	for spent, disturbed := range map[time.Duration]bool{0: false, 30 * ms: false, 300 * ms: true} {
		if got := others(whole, 2, false, spent); got.Disturbed != disturbed || math.Abs(got.CPUPercent-float64(spent)/float64(40*ms)) > 1e-9 {
			t.Errorf("other processes used %v: %+v, want disturbed %v", spent, *got, disturbed)
		}
	}
	if got := others(seenOf(append(many(8, quiet), stolen, stolen)...), 2, false, 0); !got.Disturbed {
		t.Errorf("alone, but for the hypervisor: %+v, want it disturbed", *got)
	}
	if got := spent(map[int]time.Duration{1: 5, 2: 7}, map[int]time.Duration{1: 6, 3: 4}); got != 5 {
		t.Errorf("spent %d, want 1 of process 1 and 4 of the new one", got)
	}
	// The end of a stretch that was cut short says nothing by itself.
	cut := append(seenOf(many(3, quiet)...), sighting{})
	cut[4] = cut[3]
	cut[4].at = cut[3].at.Add(20 * ms)
	if got := others(cut, 2, false, -1); got.Stretches != 3 || got.Over != 0 {
		t.Errorf("with 20 ms at the end: %+v, want them in no stretch", *got)
	}
}

func TestLittlesLaw(t *testing.T) {
	// slice of 100 ms in which 16 are in flight, so many microseconds each.
	slice := func(micros, trips int64) control.Sample {
		return control.Sample{Start: 0, End: int64(100 * ms), RoundTrips: trips, RTTSum: trips * micros * 1000, Working: int64(100 * ms)}
	}
	kept, short := slice(100, 16000), slice(100, 8000)
	for _, tt := range []struct {
		name   string
		slices []control.Sample
		lawful bool
	}{
		{"kept", []control.Sample{kept, kept, kept}, true},
		{"one slice that was stalled", []control.Sample{kept, short, kept}, true},
		{"half of the round trips are missing", []control.Sample{short, short, short}, false},
		{"RTTs twice as long as can be", []control.Sample{slice(200, 16000), slice(200, 16000), kept}, false},
		{"a little less", []control.Sample{slice(91, 16000), slice(91, 16000)}, true},
		{"RTTs as long as slices", []control.Sample{slice(60_000, 16), slice(60_000, 16)}, true},
		{"the load worked while a connection had nothing in flight", []control.Sample{slice(70, 16000)}, true},
		{"no round trip", []control.Sample{slice(0, 0)}, true},
		{"no slice", nil, true},
	} {
		if got := littlesLaw(tt.slices, 16, 4); (got == "") != tt.lawful {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if got, want := littlesLaw([]control.Sample{short}, 16, 4), "the load contradicts itself: with 16 in flight for 100ms the RTTs of a slice should add up to 1.6s, but they add up to 800ms (Little's law)"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

// A good trial that others disturbed is repeated, whoever else took part in it is
// not.
func TestDisturbedEntrants(t *testing.T) {
	var entrants []entrant
	var recs []record.Record
	for i, status := range []string{record.OK, record.Invalid, record.Failed, record.OK, record.OK} {
		e := entrant{twin: i == 4}
		e.Runtime = fmt.Sprint(i)
		entrants = append(entrants, e)
		r := record.Record{Status: status}
		if status != record.Failed {
			r.Validity.Others = &record.Others{CPUPercent: 12, Disturbed: i != 3}
		}
		recs = append(recs, r)
	}
	got, why := disturbed(entrants, recs)
	if len(got) != 2 || got[0] != entrants[0] || got[1] != entrants[4] || why == nil {
		t.Errorf("%v are measured again, since %v; want the first and the twin", got, why)
	}
	if got, why := disturbed(entrants[3:4], recs[3:4]); got != nil || why != nil {
		t.Errorf("%v are measured again, since %v; want nobody", got, why)
	}
}

func BenchmarkLook(b *testing.B) {
	cpus, err := sysinfo.AllowedCPUs()
	if err != nil {
		b.Skip(err)
	}
	a := &attempt{}
	for b.Loop() {
		if _, err := a.look(cpus); err != nil {
			b.Skip(err)
		}
	}
}
