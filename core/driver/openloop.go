package driver

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/record"
)

// Limits of an open loop. Beyond either, what was measured is not the rate that
// was asked for: the load could not keep it, be it that the window was full or
// that the load had no time.
const (
	unsentLimitPercent = 0.1 // of the messages that were due
	tardyLimitPercent  = 1.0 // of those that came back in counted slices; load.TardyAfter says what is tardy
)

// checkOpenLoop refuses a tally without the histograms of an open loop where
// there has to be one, as of a load that knows no rate, and one whose histograms
// are not of the same round trips.
func checkOpenLoop(t control.Tally, trips int64, open bool) error {
	if !open {
		return nil
	}
	for _, h := range []struct {
		name    string
		encoded []byte
	}{{"RTTs from the intended time", t.Intended}, {"slips", t.Slip}} {
		got, err := hist.Decode(h.encoded)
		if err != nil {
			return fmt.Errorf("histogram of %s: %w: does the load know rates?", h.name, err)
		}
		if got.Count() != trips {
			return fmt.Errorf("%d %s of %d round trips", got.Count(), h.name, trips)
		}
	}
	return nil
}

// openLoop is what the record of contender i has of its open loop.
func (a *attempt) openLoop(i int) *record.OpenLoop {
	var planned int64
	for _, s := range a.plan {
		if s.Target == i {
			planned += s.Length
		}
	}
	t := a.result.Targets[i]
	n := t.Counts
	return &record.OpenLoop{
		Gaps:             cmp.Or(a.trial.Gaps, control.GapsFixed),
		OfferedPerSecond: float64(n[control.CountSent]+n[control.CountUnsent]) * 1e9 / float64(planned),
		Unsent:           n[control.CountUnsent],
		Blocked:          n[control.CountBlocked],
		Tardy:            n[control.CountTardy],
		RTTSent:          distribution(t.RTT),
		Slip:             distribution(t.Slip),
		RTTSentHistogram: t.RTT,
		SlipHistogram:    t.Slip,
	}
}

// offBeat says in which ways the load did not keep the rate.
func (a *attempt) offBeat(n map[string]int64, m *record.Metrics) []string {
	var list []string
	rate := strconv.FormatFloat(a.cell.Rate, 'f', -1, 64)
	if due := n[control.CountSent] + m.Unsent; over(m.Unsent, due, unsentLimitPercent) {
		list = append(list, fmt.Sprintf("the load could not keep the rate of %s/s with a window of %d and reached %.1f/s: %d of %d messages due were never sent, over the limit of %g %%, and %d had to wait for a place in the window",
			rate, a.cell.Window, m.RoundTripsPerSecond, m.Unsent, due, unsentLimitPercent, m.Blocked))
	}
	if over(m.Tardy, m.RoundTrips, tardyLimitPercent) {
		list = append(list, fmt.Sprintf("the load could not keep the rate of %s/s: it sent %d of %d messages more than %v late although the window had a place, over the limit of %g %%",
			rate, m.Tardy, m.RoundTrips, load.TardyAfter(a.cell.Rate), tardyLimitPercent))
	}
	return list
}

// over reports whether part is more than so many percent of whole.
func over(part, whole int64, percent float64) bool {
	return float64(part)*100 > float64(whole)*percent
}
