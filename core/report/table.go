package report

import (
	"fmt"
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// narrow is the width below which the payload column gives way: it follows
// from the round trips.
const narrow = 90

// statuses are what a row can be instead of measured, the gravest first.
var statuses = []string{record.Failed, record.Invalid, record.Unsupported}

// table writes a scenario's contenders, a row each.
func (p *page) table(s compare.Group) {
	process := "server"
	if s.Cell.Placement == cell.Colocated {
		process = "process"
	}
	g := grid{{{text: "contender"}, {text: "round\ntrips/s"}, {text: "payload\nMiB/s"}, {text: "RTT\np50"}, {text: "RTT\np99"},
		{text: process + "\nCPU and\nper trip"}, {text: "peak\nRSS\nMiB"}}}
	for _, r := range s.Rows {
		g = append(g, row(r))
	}
	if p.opt.Width < narrow {
		const payload = 2
		for i := range g {
			g[i] = slices.Delete(g[i], payload, payload+1)
		}
	}
	p.grid(g)
}

// row is one contender's entries, with what is odd in red.
func row(r compare.Row) []entry {
	name := entry{text: r.Contender().String() + "\n" + trials(r)}
	if r.Count(record.Failed)+r.Count(record.Invalid) > 0 || total(errorCounts(r)) > 0 {
		name.colour = red
	}
	if r.Count(record.OK) == 0 {
		return []entry{name, {standing(r), name.colour}, {text: dash}, {text: dash}, {text: dash}, {text: dash}, {text: dash}}
	}
	spread := func(m compare.Metric) compare.Spread { return r.Series(m).Spread() }
	rate := entry{text: counts.spread(spread(compare.Throughput))}
	if r.Flagged(record.FlagLoadBound) {
		rate.text = "≥ " + rate.text
	}
	return []entry{
		name,
		rate,
		{text: median(spread(compare.Payload), plain, "")},
		{text: times.spread(spread(compare.P50))},
		{text: times.spread(spread(compare.P99))},
		{text: median(spread(compare.CPU), plain, " %") + "\n" + median(spread(compare.CPUPerTrip), times, "")},
		{text: mebibytes(spread(compare.PeakRSS))},
	}
}

// standing is the word for a row without a good trial.
func standing(r compare.Row) string {
	for _, s := range statuses {
		if r.Count(s) > 0 {
			return s
		}
	}
	return "not run"
}

// trials says how many of a row's trials are good and how many errors all saw.
func trials(r compare.Row) string {
	s := fmt.Sprintf("%d of %d ok", r.Count(record.OK), max(r.Planned, len(r.Records)))
	if n := total(errorCounts(r)); n > 0 {
		s += fmt.Sprintf(", %d errors", n)
	}
	return s
}

func median(s compare.Spread, sc scale, unit string) string {
	if s.N == 0 {
		return dash
	}
	return sc.format(s.Median) + unit
}

func mebibytes(s compare.Spread) string {
	s.Median /= 1 << 20
	return median(s, plain, "")
}
