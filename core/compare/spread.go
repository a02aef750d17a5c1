package compare

import "slices"

// Spread is what several trials showed of one figure: a row of a report.
type Spread struct {
	Median, Min, Max float64
	N                int // trials; 0: nothing is known
}

// SpreadOf returns the spread of values, in any order. The median of an even
// number of values is the middle between the two in the middle.
func SpreadOf(values []float64) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	median := sorted[n/2]
	if n%2 == 0 {
		median = sorted[n/2-1] + (median-sorted[n/2-1])/2
	}
	return Spread{Median: median, Min: sorted[0], Max: sorted[n-1], N: n}
}

// Separate reports whether the ranges of a and b have nothing in common. With
// fewer than two trials there is no range, and nothing is separate.
func (a Spread) Separate(b Spread) bool {
	return a.N > 1 && b.N > 1 && (a.Min > b.Max || b.Min > a.Max)
}
