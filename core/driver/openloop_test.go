package driver_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/record"
)

// rateless is a load that knows no rate and measures a closed loop.
type rateless struct{ control.Plugin }

func (p rateless) Prepare(ctx context.Context, s control.Setup) (control.Ready, error) {
	s.Cell.Rate = 0
	return p.Plugin.Prepare(ctx, s)
}

// offering is a trial at a rate.
func offering(rate float64, placement string, names ...string) driver.Trial {
	t := trial(placement, names...)
	t.Scenario.Rate, t.Scenario.Window = rate, 16
	return t
}

// kept fails the test unless a trial is good but for the load's lateness, which
// a machine busy with other things may cause.
func kept(t *testing.T, r record.Record) {
	t.Helper()
	if r.Status != record.OK && !strings.Contains(r.Reason, "the load could not keep the rate") {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	for k, n := range r.Errors {
		if n != 0 {
			t.Errorf("%d %s", n, k)
		}
	}
}

// What was offered is what was asked for, to each of two contenders in its own
// slices, and the record tells the three distributions apart.
func TestRateIsOffered(t *testing.T) {
	d := newDriver(t, "good-too")
	tr := offering(2000, cell.Split, "good", "good-too")
	tr.Gaps = control.GapsFixed
	for _, r := range measure(t, d, tr) {
		kept(t, r)
		m := r.Metrics
		if math.Abs(m.OfferedPerSecond-2000) > 10 || m.Gaps != control.GapsFixed || m.RTTFrom != record.FromIntended {
			t.Errorf("offered %g/s with gaps %s, RTT from %s", m.OfferedPerSecond, m.Gaps, m.RTTFrom)
		}
		if m.RTT == nil || m.RTTSent == nil || m.Slip == nil || m.RTT.Count != m.RTTSent.Count || m.RTT.Count != m.Slip.Count || m.RTT.Count != m.RoundTrips {
			t.Fatalf("%d round trips, but RTT %+v, from the sending %+v, slip %+v", m.RoundTrips, m.RTT, m.RTTSent, m.Slip)
		}
		if sum := m.RTTSent.Mean + m.Slip.Mean; math.Abs(m.RTT.Mean-sum) > sum/100 {
			t.Errorf("the mean RTT is %g µs from the intended time, but %g from the sending and %g slip", m.RTT.Mean, m.RTTSent.Mean, m.Slip.Mean)
		}
		for _, encoded := range [][]byte{m.RTTHistogram, m.RTTSentHistogram, m.SlipHistogram} {
			if h, err := hist.Decode(encoded); err != nil || h.Count() != m.RoundTrips {
				t.Errorf("a histogram is not of %d round trips: %v", m.RoundTrips, err)
			}
		}
		if !strings.Contains(r.Provenance.Command, " --rate 2000 --gaps fixed") {
			t.Errorf("the command does not repeat it: %s", r.Provenance.Command)
		}
	}
}

// A rate beyond the server and the load is invalid, says so, and loses no
// message.
func TestRateBeyondReach(t *testing.T) {
	d := newDriver(t)
	r := measure(t, d, offering(4e6, cell.Split, "good"))[0]
	for _, want := range []string{"the load could not keep the rate of 4000000/s with a window of 16 and reached ", " of 1000000 messages due were never sent"} {
		if r.Status != record.Invalid || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %q does not say %q", r.Status, r.Reason, want)
		}
	}
	if m := r.Metrics; m.OfferedPerSecond != 4e6 || m.Unsent == 0 || m.Blocked == 0 {
		t.Errorf("offered %g/s, unsent %d, blocked %d", m.OfferedPerSecond, m.Unsent, m.Blocked)
	}
}

// A server that stops for a third of a second is seen by every message due
// meanwhile.
func TestPauseOfAServer(t *testing.T) {
	d := newDriver(t, "pauses")
	tr := offering(1000, cell.Split, "pauses")
	tr.Warmup, tr.Measure = 50*time.Millisecond, 1500*time.Millisecond
	r := measure(t, d, tr)[0]
	kept(t, r)
	m := r.Metrics
	longest := float64(serverPause / time.Microsecond)
	if m.RTT.Max < longest {
		t.Errorf("the longest RTT is %g µs, want the pause of %g", m.RTT.Max, longest)
	}
	// 350 of 1500 messages waited, the longest for the whole pause and each of the
	// others for 1 ms less than the one before: 75 of them, which are 5 %, for all
	// but 75 ms of it.
	if p95 := *m.RTT.P95; p95 < longest-100_000 {
		t.Errorf("p95 is %g µs, want the pause but for 75 ms", p95)
	}
	if m.Unsent != 0 || m.Blocked < 200 {
		t.Errorf("unsent %d, blocked %d; want all sent, hundreds late", m.Unsent, m.Blocked)
	}
	if !slices.Contains(r.Validity.Flags, record.FlagStalled) {
		t.Errorf("flags %q, want %s", r.Validity.Flags, record.FlagStalled)
	}
}

// A load that does not know rates cannot pass for one that does.
func TestLoadThatKnowsNoRate(t *testing.T) {
	d := newDriver(t, "rateless")
	r := measure(t, d, offering(1000, cell.Colocated, "rateless"))[0]
	if r.Status != record.Failed || !strings.Contains(r.Reason, "does the load know rates?") {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}
