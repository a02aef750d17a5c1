package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// ratios sets every contender against the baseline, paired by round. A
// throughput that the load limited is a lower bound and has no ratio.
func (p *page) ratios(baseline cell.Contender, s compare.Scenario) {
	i := slices.IndexFunc(s.Rows, func(r compare.Row) bool { return r.Contender == baseline })
	if i < 0 || s.Rows[i].Count(record.OK) == 0 {
		return
	}
	base := s.Rows[i]
	g := grid{{{text: "against " + baseline.String()}, {text: "round trips/s"}, {text: "CPU per trip"}, {text: "rounds"}}}
	var marks legend
	for _, r := range s.Rows {
		if r.Contender == baseline || r.Count(record.OK) == 0 {
			continue
		}
		rate := dash
		if !r.Flagged(record.FlagLoadBound) && !base.Flagged(record.FlagLoadBound) {
			rate = ratio(r, base, compare.Throughput, &marks)
		}
		cost := ratio(r, base, compare.CPUPerTrip, &marks)
		paired := len(r.Series(compare.Throughput).Ratios(base.Series(compare.Throughput)))
		g = append(g, []entry{{text: r.Contender.String()}, {text: rate}, {text: cost}, {text: strconv.Itoa(paired)}})
	}
	if len(g) == 1 {
		return
	}
	p.line("")
	p.grid(g)
	marks.write(p)
}

// legend remembers which explanations a table of ratios needs.
type legend struct{ overlap, single bool }

func (l *legend) write(p *page) {
	if l.overlap {
		p.line("~ ranges overlap, no difference can be confirmed")
	}
	if l.single {
		p.line("? one round has no range, no difference can be confirmed")
	}
}

// ratio is the median of the ratios round by round, with their range, and a
// mark where the two rows' own ranges leave the difference open.
func ratio(r, base compare.Row, m compare.Metric, marks *legend) string {
	a, b := r.Series(m), base.Series(m)
	q := a.Ratios(b).Spread()
	switch {
	case q.N == 0:
		return dash
	case q.N == 1:
		marks.single = true
		return "? " + digits3(round3(q.Median))
	}
	mark := "  "
	if !a.Spread().Separate(b.Spread()) {
		marks.overlap = true
		mark = "~ "
	}
	return fmt.Sprintf("%s%s [%s, %s]", mark, digits3(round3(q.Median)), digits3(round3(q.Min)), digits3(round3(q.Max)))
}

// notes explains each row that is not simply good.
func (p *page) notes(s compare.Scenario) {
	var notes []string
	for _, r := range s.Rows {
		name := r.Contender.String() + ": "
		for _, n := range reasons(r) {
			notes = append(notes, name+n)
		}
		if kinds := errorCounts(r); len(kinds) > 0 {
			notes = append(notes, name+"errors: "+list(kinds))
		}
		for _, flag := range flags(r) {
			notes = append(notes, name+flag)
		}
	}
	if len(notes) == 0 {
		return
	}
	p.line("")
	for _, n := range notes {
		p.wrapped("- " + n)
	}
}

// reasons says why trials of a row are not ok, in which rounds: once for each
// reason.
func reasons(r compare.Row) []string {
	var order []string
	rounds := map[string][]string{}
	for _, rec := range r.Records {
		if rec.Status == record.OK {
			continue
		}
		why := rec.Status
		if rec.Reason != "" {
			why += ": " + rec.Reason
		}
		if rounds[why] == nil {
			order = append(order, why)
		}
		rounds[why] = append(rounds[why], strconv.Itoa(rec.Round))
	}
	for i, why := range order {
		if len(rounds[why]) < len(r.Records) {
			order[i] = "round " + strings.Join(rounds[why], ", ") + " " + why
		}
	}
	return order
}

// meaning explains the flags that limit what a row's figures say.
var meaning = map[string]string{
	record.FlagLoadBound:      "the load was the limit, so the throughput is a lower bound",
	record.FlagOversubscribed: "more IO threads than CPUs, so nothing follows about IO models",
	record.FlagDisturbed:      "others used the CPUs meanwhile",
}

// flags lists the validity flags of a row's good trials.
func flags(r compare.Row) []string {
	trials := map[string]int{}
	for _, rec := range r.Records {
		for _, f := range rec.Validity.Flags {
			if rec.Status == record.OK {
				trials[f]++
			}
		}
	}
	var lines []string
	for _, f := range slices.Sorted(maps.Keys(trials)) {
		line := fmt.Sprintf("%s in %d of %d trials", f, trials[f], r.Count(record.OK))
		if why := meaning[f]; why != "" {
			line += ": " + why
		}
		lines = append(lines, line)
	}
	return lines
}

// errorCounts adds up what went wrong in all of a row's trials, by kind.
func errorCounts(r compare.Row) map[string]int64 {
	sum := map[string]int64{}
	for _, rec := range r.Records {
		for kind, n := range rec.Errors {
			if n > 0 {
				sum[kind] += n
			}
		}
	}
	return sum
}

func total(kinds map[string]int64) int64 {
	var n int64
	for _, k := range kinds {
		n += k
	}
	return n
}

func list(kinds map[string]int64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}
