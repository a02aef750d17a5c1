package compare

import "fmt"

// Limit is how much worse a metric may become: throughput lower, all else
// higher.
type Limit struct {
	Metric Metric
	Share  float64 // of 1
}

// Gated are the metrics that a limit may be on, by their names.
func Gated() []Metric {
	cpu := CPUPerTrip
	cpu.Name = "cpu" // short, since nobody would limit the CPU percentage of a closed loop
	return []Metric{Throughput, cpu, P50, P99}
}

// Breached reports whether a verdict shows for certain that the metric became
// worse, by more than the limit at the median.
func (l Limit) Breached(v Verdict) bool {
	if v.P > Alpha {
		return false
	}
	if l.Metric.Name == Throughput.Name {
		return v.Ratio.Median < 1-l.Share
	}
	return v.Ratio.Median > 1+l.Share
}

// Unknown says why a verdict cannot be held to a limit, "" if it can.
func (l Limit) Unknown(v Verdict) string {
	switch {
	case v.Why != "":
		return v.Why
	case v.Ratio.N == 0:
		return "there is no ratio: it was not measured, or the load was the limit"
	case v.High == 0:
		return fmt.Sprintf("%d good rounds, %d are needed", v.Ratio.N, MinRounds)
	}
	return ""
}
