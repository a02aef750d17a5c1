package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// delta is by how much a ratio may differ from 1 and count as equal in a run.
func delta(run *record.Run) float64 {
	if run.Delta == 0 {
		return compare.DefaultDelta
	}
	return run.Delta
}

// noiseFloor says by how much equals differed in a suite.
func noiseFloor(all []compare.Results, run *record.Run) string {
	var parts []string
	n := 0
	for _, f := range []struct {
		name   string
		metric compare.Metric
	}{{"throughput", compare.Throughput}, {"CPU per trip", compare.CPUPerTrip}} {
		if floor := compare.NoiseFloor(all, run.Suite, f.metric); floor.N > 0 {
			parts = append(parts, fmt.Sprintf("%s ±%s %%", f.name, digits3(round3(100*floor.Share))))
			n = max(n, floor.N)
		}
	}
	if len(parts) == 0 {
		return "noise floor: not known, since no contender was measured beside its twin"
	}
	return fmt.Sprintf("noise floor: %s, which 95 %% of %d rounds of equals stayed within (a twin of %s)", strings.Join(parts, ", "), n, run.Baseline)
}

// ratios sets every contender against the baseline, paired by round.
func (p *page) ratios(s compare.Group) {
	pairs := compare.Pairs(s.Rows, compare.Against("contender", s.Run.Baseline))
	if len(pairs) == 0 {
		return
	}
	g := grid{{{text: "against " + s.Run.Baseline.String()}, {text: "round trips/s"}, {text: "CPU per trip"}, {text: "rounds"}}}
	marks := legend{delta: delta(s.Run)}
	rates, costs := compare.Judge(pairs, compare.Throughput, marks.delta), compare.Judge(pairs, compare.CPUPerTrip, marks.delta)
	for i, pair := range pairs {
		g = append(g, []entry{{text: pair.Row.Contender().String()}, {text: stacked(&marks, rates[i])}, {text: stacked(&marks, costs[i])},
			{text: strconv.Itoa(max(rates[i].Ratio.N, costs[i].Ratio.N))}})
	}
	p.line("")
	p.grid(g)
	for _, line := range marks.lines() {
		p.wrapped(line)
	}
}

// stacked is a ratio with its verdict beneath, in lines short enough for a column.
func stacked(l *legend, v compare.Verdict) string {
	text := l.ratio(v)
	if word := v.String(); word != "" {
		text += "\n" + breaks.Replace(word)
	}
	return text
}

// breaks are where a verdict may go on in the next line.
var breaks = strings.NewReplacer(" (", "\n(", " more rounds", "\nmore rounds", " within", "\nwithin", ": ", ":\n", " trials", "\ntrials")

// legend remembers which explanations a table of ratios needs.
type legend struct {
	delta                     float64
	overlap, single, interval bool
}

func (l *legend) lines() []string {
	var lines []string
	if l.overlap {
		lines = append(lines, "~ ranges overlap, no difference can be confirmed")
	}
	if l.single {
		lines = append(lines, "? one round has no range, no difference can be confirmed")
	}
	if l.interval {
		lines = append(lines, fmt.Sprintf("[ ] 95 %% interval of the ratio. Words are of this workload only; those on one metric hold for all that is set against the same reference together, so that an interval without 1 may still be inconclusive. Within ±%.3g %% counts as equal", 100*l.delta))
	}
	return lines
}

// ratio is the median of the ratios round by round, with its interval. Too few
// rounds have their range, and a mark where the two rows' own ranges leave the
// difference open.
func (l *legend) ratio(v compare.Verdict) string {
	q, low, high, mark := v.Ratio, v.Low, v.High, ""
	switch {
	case q.N == 0:
		return dash
	case q.N == 1:
		l.single = true
		return "? " + digits3(round3(q.Median))
	case high > 0:
		l.interval = true
	default:
		low, high, mark = q.Min, q.Max, "  "
		if q.Overlap {
			l.overlap = true
			mark = "~ "
		}
	}
	return fmt.Sprintf("%s%s [%s, %s]", mark, digits3(round3(q.Median)), digits3(round3(low)), digits3(round3(high)))
}
