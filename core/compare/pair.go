package compare

import (
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Contrast names the cell that a cell is set against: itself, if it is what the
// others refer to.
type Contrast func(cell.Cell) cell.Cell

// Against is the contrast of an axis. IO models refer to shared × 1, callbacks
// to goroutines, work to none, protocols to tcp, and contenders to the baseline.
func Against(axis string, baseline cell.Contender) Contrast {
	return func(c cell.Cell) cell.Cell {
		switch axis {
		case "io_model":
			c.IOModel, c.Threads = cell.Shared, 1
		case "execution":
			return goroutine(c)
		case "work":
			c.Work = 0
		case "protocol":
			c.Protocol = "tcp"
		default:
			return c.With(baseline)
		}
		return c
	}
}

// goroutine is the cell with the same library in goroutine execution. Package
// net has a runtime for each execution, since it cannot call back by itself.
func goroutine(c cell.Cell) cell.Cell {
	c.Execution = cell.Goroutine
	if c.Runtime == "stdnet" {
		c.Runtime = "coroutine"
	}
	return c
}

// Pair is a row and the row it is set against.
type Pair struct{ Row, Base Row }

// Pairs sets the rows against those that the contrast names, in the same suite,
// where both have a good trial.
func Pairs(rows []Row, contrast Contrast) []Pair {
	good := map[key]Row{}
	for _, r := range rows {
		if r.Count(record.OK) > 0 {
			good[key{r.Run.Suite, r.Cell}] = r
		}
	}
	var pairs []Pair
	for _, r := range rows {
		base, found := good[key{r.Run.Suite, contrast(r.Cell)}]
		if found && base.Cell != r.Cell && r.Count(record.OK) > 0 {
			pairs = append(pairs, Pair{r, base})
		}
	}
	return pairs
}

// Ratio is the ratios of a metric over the rounds.
type Ratio struct {
	Spread
	// Overlap: the two rows' own ranges have values in common or, with a single
	// round, are none, so that no difference can be confirmed.
	Overlap bool
}

// Ratio divides row by base, round by round. A throughput that the load limited
// is a lower bound and has no ratio.
func (p Pair) Ratio(m Metric) Ratio {
	if m.Name == Throughput.Name && (p.Row.Flagged(record.FlagLoadBound) || p.Base.Flagged(record.FlagLoadBound)) {
		return Ratio{}
	}
	a, b := p.Row.Series(m), p.Base.Series(m)
	return Ratio{a.Ratios(b).Spread(), !a.Spread().Separate(b.Spread())}
}
