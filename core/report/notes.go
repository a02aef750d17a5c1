package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// ratios sets every contender against the baseline, paired by round.
func (p *page) ratios(s compare.Group) {
	pairs := compare.Pairs(s.Rows, compare.Against("contender", s.Run.Baseline))
	if len(pairs) == 0 {
		return
	}
	g := grid{{{text: "against " + s.Run.Baseline.String()}, {text: "round trips/s"}, {text: "CPU per trip"}, {text: "rounds"}}}
	var marks legend
	for _, pair := range pairs {
		rate, cost := pair.Ratio(compare.Throughput), pair.Ratio(compare.CPUPerTrip)
		g = append(g, []entry{{text: pair.Row.Contender().String()}, {text: marks.ratio(rate)}, {text: marks.ratio(cost)},
			{text: strconv.Itoa(max(rate.N, cost.N))}})
	}
	p.line("")
	p.grid(g)
	for _, line := range marks.lines() {
		p.line("%s", line)
	}
}

// legend remembers which explanations a table of ratios needs.
type legend struct{ overlap, single bool }

func (l *legend) lines() []string {
	var lines []string
	if l.overlap {
		lines = append(lines, "~ ranges overlap, no difference can be confirmed")
	}
	if l.single {
		lines = append(lines, "? one round has no range, no difference can be confirmed")
	}
	return lines
}

// ratio is the median of the ratios round by round, with their range, and a
// mark where the two rows' own ranges leave the difference open.
func (l *legend) ratio(q compare.Ratio) string {
	switch {
	case q.N == 0:
		return dash
	case q.N == 1:
		l.single = true
		return "? " + digits3(round3(q.Median))
	}
	mark := "  "
	if q.Overlap {
		l.overlap = true
		mark = "~ "
	}
	return fmt.Sprintf("%s%s [%s, %s]", mark, digits3(round3(q.Median)), digits3(round3(q.Min)), digits3(round3(q.Max)))
}

// notes explains each row that is not simply good.
func (p *page) notes(s compare.Group) {
	var notes []string
	for _, r := range s.Rows {
		name := r.Contender().String() + ": "
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

// flags explains the validity flags of a row's good trials.
func flags(r compare.Row) []string {
	trials := flagged(r)
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

// flagged counts the good trials that carry each validity flag.
func flagged(r compare.Row) map[string]int {
	trials := map[string]int{}
	for _, rec := range r.Records {
		for _, f := range rec.Validity.Flags {
			if rec.Status == record.OK {
				trials[f]++
			}
		}
	}
	return trials
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
