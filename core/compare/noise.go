package compare

import (
	"math"
	"slices"

	"github.com/netmatrix/netmatrix/core/record"
)

// floorShare is the share of twin rounds that lie within a noise floor.
const floorShare = 0.95

// Floor is how far equals were apart: two processes of one contender, measured
// side by side.
type Floor struct {
	// Share is the difference that 95 of 100 rounds stayed within, of 1.
	Share float64
	N     int // rounds of all scenarios; 0: there was no twin
}

// NoiseFloor takes a suite's floor of a metric from its twins: the 95th
// percentile, by the nearest rank, of the logarithms of the ratios without
// their signs.
func NoiseFloor(all []Results, suite string, m Metric) Floor {
	var sizes []float64
	for _, p := range twins(all) {
		if p.Row.Run.Suite != suite {
			continue
		}
		for _, v := range p.logs(m) {
			sizes = append(sizes, math.Abs(v))
		}
	}
	if len(sizes) == 0 {
		return Floor{}
	}
	slices.Sort(sizes)
	rank := int(math.Ceil(floorShare * float64(len(sizes))))
	return Floor{Share: math.Expm1(sizes[rank-1]), N: len(sizes)}
}

// twins sets each twin against the contender that it is a twin of.
func twins(all []Results) []Pair {
	originals := map[key]Row{}
	for _, r := range rowsOf(all, false) {
		originals[key{r.Run.Suite, r.Cell}] = r
	}
	var pairs []Pair
	for _, r := range Twins(all) {
		if o, found := originals[key{r.Run.Suite, r.Cell}]; found && r.Count(record.OK) > 0 {
			pairs = append(pairs, Pair{Row: r, Base: o})
		}
	}
	return pairs
}
