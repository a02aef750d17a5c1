package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/netmatrix/netmatrix/core/record"
)

// Ranking is the rows of a group by their median throughput.
type Ranking struct {
	Rows     []Row // highest first
	Excluded []Exclusion
}

// Exclusion is a row that has figures, or should have, and is not ranked.
type Exclusion struct {
	Row Row
	Why string
}

// Rank orders a group by throughput. A lower bound and a row with trials that
// went wrong have no place in the order; nor has a row with more IO threads than
// CPUs where IO models are ranked, nor one that was measured in another run than
// the first that has. In an open loop nobody has one. What a runtime cannot do
// is left out.
func Rank(g Group) Ranking {
	var ranking Ranking
	exclude := func(r Row, why string) { ranking.Excluded = append(ranking.Excluded, Exclusion{r, why}) }
	for _, r := range g.Rows {
		switch why := unrankable(r, g.Cell.IOModel == ""); {
		case r.Count(record.Unsupported) > 0:
		case why != "":
			exclude(r, why)
		case len(ranking.Rows) > 0 && !slices.Equal(runs(r), runs(ranking.Rows[0])):
			exclude(r, "measured in another run")
		default:
			ranking.Rows = append(ranking.Rows, r)
		}
	}
	slices.SortStableFunc(ranking.Rows, func(a, b Row) int {
		return cmp.Compare(b.Series(Throughput).Spread().Median, a.Series(Throughput).Spread().Median)
	})
	return ranking
}

// runs are the runs that measured a row, sorted.
func runs(r Row) []string {
	var ids []string
	for i := range r.Records {
		ids = append(ids, r.Records[i].RunID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// unrankable says why a row has no rank, "" if it has one.
func unrankable(r Row, ioModels bool) string {
	for _, status := range []string{record.Failed, record.Invalid} {
		if n := r.Count(status); n > 0 {
			return fmt.Sprintf("%d of %d trials %s", n, len(r.Records), status)
		}
	}
	switch {
	case r.Cell.Rate > 0:
		return "all were offered the same rate"
	case len(r.Records) == 0:
		return "not run"
	case r.Flagged(record.FlagLoadBound):
		return "the load was the limit"
	case ioModels && r.Flagged(record.FlagOversubscribed):
		return "more IO threads than CPUs"
	}
	return ""
}
