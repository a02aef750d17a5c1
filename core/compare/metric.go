package compare

import "github.com/netmatrix/netmatrix/core/record"

// Metric is one figure of a record.
type Metric struct {
	Name string // as in --gate
	// Of takes the figure from a record, nil where it was not measured.
	Of func(*record.Record) *float64
}

// The metrics, in the units of the record's fields.
var (
	Throughput = Metric{"throughput", func(r *record.Record) *float64 {
		if r.Metrics == nil {
			return nil
		}
		return &r.Metrics.RoundTripsPerSecond
	}}
	Payload = Metric{"payload", func(r *record.Record) *float64 {
		if r.Metrics == nil {
			return nil
		}
		return &r.Metrics.PayloadMiBPerSecond
	}}
	P50  = percentile("p50", func(t *record.RTT) *float64 { return t.P50 })
	P95  = percentile("p95", func(t *record.RTT) *float64 { return t.P95 })
	P99  = percentile("p99", func(t *record.RTT) *float64 { return t.P99 })
	P999 = percentile("p999", func(t *record.RTT) *float64 { return t.P999 })

	CPU        = process("cpu", func(p *record.Process) *float64 { return p.CPUPercent })
	CPUPerTrip = process("cpu_us_per_roundtrip", func(p *record.Process) *float64 { return p.CPUMicrosPerTrip })
	// MessagesPerRead is how many messages arrived together, at the server.
	MessagesPerRead = process("messages_per_read", func(p *record.Process) *float64 { return p.MessagesPerRead })
	PeakRSS         = process("peak_rss", func(p *record.Process) *float64 {
		if p.PeakRSSBytes == nil {
			return nil
		}
		bytes := float64(*p.PeakRSSBytes)
		return &bytes
	})
)

func percentile(name string, of func(*record.RTT) *float64) Metric {
	return Metric{name, func(r *record.Record) *float64 {
		if r.Metrics == nil || r.Metrics.RTT == nil {
			return nil
		}
		return of(r.Metrics.RTT)
	}}
}

// process is a cost of the server's process or, colocated, of the one there is.
func process(name string, of func(*record.Process) *float64) Metric {
	return Metric{name, func(r *record.Record) *float64 {
		switch {
		case r.Server != nil:
			return of(r.Server)
		case r.Process != nil:
			return of(r.Process)
		}
		return nil
	}}
}
