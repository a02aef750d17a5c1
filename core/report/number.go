package report

import (
	"math"
	"strconv"

	"github.com/netmatrix/netmatrix/core/compare"
)

// dash stands where nothing was measured.
const dash = "–"

// A scale is the units that one kind of figure is shown in, ascending. Each
// value gets the largest unit that leaves it at 1 or more.
type scale []struct {
	factor float64
	unit   string
}

var (
	times  = scale{{1e-3, " ns"}, {1, " µs"}, {1e3, " ms"}, {1e6, " s"}} // of microseconds
	counts = scale{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}}
	plain  = scale{{1, ""}}
)

// split returns a value's number, to three significant digits, and its unit.
func (s scale) split(v float64) (number, unit string) {
	v = round3(v)
	step := s[0]
	for _, next := range s {
		if math.Abs(v) >= next.factor {
			step = next
		}
	}
	return digits3(v / step.factor), step.unit
}

func (s scale) format(v float64) string {
	number, unit := s.split(v)
	return number + unit
}

// spread shows a median with its range beneath; a single trial has no range.
// The range leaves out a unit that all three share, except where the unit is
// stuck to its number. A range of two units takes two lines, so that one wild
// trial does not widen the column.
func (s scale) spread(sp compare.Spread) string {
	if sp.N == 0 {
		return dash
	}
	median := s.format(sp.Median)
	if sp.N == 1 {
		return median
	}
	low, high := s.format(sp.Min), s.format(sp.Max)
	_, unit := s.split(sp.Median)
	lowNumber, lowUnit := s.split(sp.Min)
	highNumber, highUnit := s.split(sp.Max)
	between := ", "
	switch {
	case lowUnit != highUnit:
		between = ",\n"
	case lowUnit == unit && len(unit) > 1:
		low, high = lowNumber, highNumber
	}
	return median + "\n[" + low + between + high + "]"
}

// round3 rounds to three significant digits, so that 999.6 finds its unit as
// 1000.
func round3(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64) // its own output: cannot fail
	return r
}

// digits3 writes a rounded value with three significant digits or more, and
// without an exponent.
func digits3(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
}
