package compare

import "github.com/netmatrix/netmatrix/core/record"

// Metric is one figure of a record.
type Metric struct {
	Name string // as in --gate
	// Of takes the figure from a record, nil where it was not measured.
	Of func(*record.Record) *float64

	noun  string // in verdicts
	words map[Word]string
}

// What a figure is called that is higher or lower than another.
var (
	amounts = map[Word]string{More: "more", Less: "less"}
	times   = map[Word]string{More: "longer", Less: "shorter"}
)

// The metrics, in the units of the record's fields.
var (
	Throughput = Metric{Name: "throughput", noun: "throughput", words: amounts, Of: func(r *record.Record) *float64 {
		if r.Metrics == nil {
			return nil
		}
		return &r.Metrics.RoundTripsPerSecond
	}}
	Payload = Metric{Name: "payload", noun: "payload", words: amounts, Of: func(r *record.Record) *float64 {
		if r.Metrics == nil {
			return nil
		}
		return &r.Metrics.PayloadMiBPerSecond
	}}
	P50  = percentile("p50", func(t *record.RTT) *float64 { return t.P50 })
	P95  = percentile("p95", func(t *record.RTT) *float64 { return t.P95 })
	P99  = percentile("p99", func(t *record.RTT) *float64 { return t.P99 })
	P999 = percentile("p999", func(t *record.RTT) *float64 { return t.P999 })

	CPU        = process("cpu", "CPU", func(p *record.Process) *float64 { return p.CPUPercent })
	CPUPerTrip = process("cpu_us_per_roundtrip", "CPU", func(p *record.Process) *float64 { return p.CPUMicrosPerTrip })
	// MessagesPerRead is how many messages arrived together, at the server.
	MessagesPerRead = process("messages_per_read", "messages per read", func(p *record.Process) *float64 { return p.MessagesPerRead })
	PeakRSS         = process("peak_rss", "memory", func(p *record.Process) *float64 {
		if p.PeakRSSBytes == nil {
			return nil
		}
		bytes := float64(*p.PeakRSSBytes)
		return &bytes
	})
)

func percentile(name string, of func(*record.RTT) *float64) Metric {
	return Metric{Name: name, noun: name, words: times, Of: func(r *record.Record) *float64 {
		if r.Metrics == nil || r.Metrics.RTT == nil {
			return nil
		}
		return of(r.Metrics.RTT)
	}}
}

// process is a cost of the server's process or, colocated, of the one there is.
func process(name, noun string, of func(*record.Process) *float64) Metric {
	return Metric{Name: name, noun: noun, words: amounts, Of: func(r *record.Record) *float64 {
		switch {
		case r.Server != nil:
			return of(r.Server)
		case r.Process != nil:
			return of(r.Process)
		}
		return nil
	}}
}
