package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

const (
	// MinRounds is the number of rounds below which there are no words.
	MinRounds = 7
	// Alpha is the most that the chance of one wrong word of difference among
	// the pairs of a family may be, and of one wrong word of equivalence. An
	// interval leaves out the true ratio as rarely.
	Alpha = 0.05
	// DefaultDelta is by how much a ratio may differ from 1 and count as equal.
	DefaultDelta = 0.03
)

// Word is what may be said of a pair.
type Word string

// The words.
const (
	None         Word = ""
	More         Word = "more"
	Less         Word = "less"
	Equivalent   Word = "equivalent"
	Inconclusive Word = "inconclusive"
)

// Verdict is what the rounds of a pair allow one to say of a metric.
type Verdict struct {
	Pair   Pair
	Metric Metric
	Ratio  Ratio
	// Low and High bound the ratio: its interval at 1 - Alpha, of this pair by
	// itself. 0: there are fewer than MinRounds.
	Low, High float64
	// P is the chance of ratios this far from 1 if nothing but chance moved
	// them, adjusted for the family.
	P     float64
	Delta float64 // that the word "equivalent" was held to
	Word  Word
	Why   string // there is none, where that is not for want of rounds
	More  int    // inconclusive: about how many rounds more would decide it
}

// Judge says of each pair what its rounds allow. Pairs with the same base are a
// family, such as the contenders of a scenario against its baseline: their
// chances are adjusted together (S. Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", 1979). Ratios are paired by round and judged by their logarithms:
// different by the exact sign-flip test; equivalent where it holds, against
// either side, that the ratio lies within 1 ± delta (D. J. Schuirmann, "A
// Comparison of the Two One-Sided Tests Procedure …", 1987). What is both
// differs by less than the user cares for and is called equivalent.
func Judge(pairs []Pair, m Metric, delta float64) []Verdict {
	list := make([]Verdict, len(pairs))
	tests := make([]test, len(pairs))
	families := map[key][]*test{}
	for i, p := range pairs {
		list[i] = Verdict{Pair: p, Metric: m, Ratio: p.Ratio(m), P: 1, Delta: delta}
		logs := p.logs(m)
		if len(logs) < MinRounds || list[i].Ratio.N == 0 {
			continue
		}
		tests[i] = newTest(logs, delta)
		list[i].Low, list[i].High = math.Exp(tests[i].low), math.Exp(tests[i].high)
		if list[i].Why = p.unjudged(); list[i].Why == "" {
			families[p.family()] = append(families[p.family()], &tests[i])
		}
	}
	for _, family := range families {
		holm(family, func(t *test) *float64 { return &t.apart })
		holm(family, func(t *test) *float64 { return &t.beyond })
	}
	for i, p := range pairs {
		v, t, family := &list[i], &tests[i], families[p.family()]
		if !slices.Contains(family, t) {
			continue
		}
		v.P, v.Word = t.apart, t.word()
		if v.Word == Inconclusive {
			v.More = t.missing(delta, len(family))
		}
	}
	return list
}

// String is the verdict in words, empty for none.
func (v Verdict) String() string {
	switch v.Word {
	case More, Less:
		return v.Metric.words[v.Word] + " " + v.Metric.noun
	case Equivalent:
		return fmt.Sprintf("equivalent within ±%.3g %%", 100*v.Delta)
	case Inconclusive:
		if v.More > manyRounds {
			return fmt.Sprintf("inconclusive (over %d more rounds)", manyRounds)
		}
		return fmt.Sprintf("inconclusive (about %d more rounds)", v.More)
	}
	if v.Why != "" {
		return "no verdict: " + v.Why
	}
	return ""
}

func (p Pair) family() key { return key{p.Base.Run.Suite, p.Base.Cell} }

// unjudged says why a pair gets no words, however many rounds it has.
func (p Pair) unjudged() string {
	for _, r := range []Row{p.Row, p.Base} {
		for _, status := range []string{record.Failed, record.Invalid} {
			if n := r.Count(status); n > 0 {
				return fmt.Sprintf("%d of %d trials %s", n, len(r.Records), status)
			}
		}
	}
	if ioModel(p.Row.Cell) != ioModel(p.Base.Cell) && (p.Row.Flagged(record.FlagOversubscribed) || p.Base.Flagged(record.FlagOversubscribed)) {
		return "more IO threads than CPUs"
	}
	return ""
}

func ioModel(c cell.Cell) string { return fmt.Sprint(c.IOModel, c.Threads) }

// logs are the logarithms of the ratios, in the order of the rounds.
func (p Pair) logs(m Metric) []float64 {
	a, b := p.Row.Series(m), p.Base.Series(m)
	var rounds []Round
	for round, v := range a {
		if v > 0 && b[round] > 0 {
			rounds = append(rounds, round)
		}
	}
	slices.SortFunc(rounds, func(x, y Round) int { return cmp.Or(cmp.Compare(x.RunID, y.RunID), x.N-y.N) })
	logs := make([]float64, len(rounds))
	for i, round := range rounds {
		logs[i] = math.Log(a[round]) - math.Log(b[round])
	}
	return logs
}

// test is the outcome of the tests of one pair.
type test struct {
	logs      []float64
	low, high float64 // interval of the logarithm
	higher    bool    // rather than lower
	apart     float64 // chance, if the ratio is 1
	beyond    float64 // chance, if the ratio lies beyond 1 ± delta
}

func newTest(logs []float64, delta float64) test {
	f := newFlips(logs)
	t := test{logs: logs, higher: f.above(0) < f.below(0), apart: f.apart(0),
		beyond: max(f.above(math.Log(1-delta)), f.below(math.Log(1+delta)))}
	t.low, t.high = f.interval(Alpha)
	return t
}

func (t *test) word() Word {
	switch {
	case t.beyond <= Alpha:
		return Equivalent
	case t.apart > Alpha:
		return Inconclusive
	case t.higher:
		return More
	}
	return Less
}

// holm adjusts a chance of each test so that all can be held to the same level.
func holm(family []*test, chance func(*test) *float64) {
	slices.SortStableFunc(family, func(a, b *test) int { return cmp.Compare(*chance(a), *chance(b)) })
	least := 0.0
	for i, t := range family {
		p := chance(t)
		least = max(least, min(1, *p*float64(len(family)-i)))
		*p = least
	}
}
