package compare

import "github.com/netmatrix/netmatrix/core/record"

// The metrics that only an open loop has; P50, P99 and so on count there from
// the intended time of sending. SentP50 and SentP99 count from the actual one,
// SlipP50 and SlipP99 are the time between the two. Each percentile is of its own
// distribution: they do not add up.
var (
	SentP50 = openLoop("rtt_sent_p50", rttSent, func(t *record.RTT) *float64 { return t.P50 })
	SentP99 = openLoop("rtt_sent_p99", rttSent, func(t *record.RTT) *float64 { return t.P99 })
	SlipP50 = openLoop("slip_p50", slip, func(t *record.RTT) *float64 { return t.P50 })
	SlipP99 = openLoop("slip_p99", slip, func(t *record.RTT) *float64 { return t.P99 })
)

func rttSent(o *record.OpenLoop) *record.RTT { return o.RTTSent }
func slip(o *record.OpenLoop) *record.RTT    { return o.Slip }

func openLoop(name string, distribution func(*record.OpenLoop) *record.RTT, percentile func(*record.RTT) *float64) Metric {
	return Metric{Name: name, noun: name, words: times, Of: func(r *record.Record) *float64 {
		if r.Metrics == nil || r.Metrics.OpenLoop == nil {
			return nil
		}
		d := distribution(r.Metrics.OpenLoop)
		if d == nil {
			return nil
		}
		return percentile(d)
	}}
}
