package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
)

// A finding is a sentence about a group of rows.
type finding struct {
	scope cell.Cell // what the rows share
	text  string
}

// findings are the sentences that a workload's figures allow: one over all its
// IO models where those are what the suite compares, else one for each.
func (s *site) findings(workload compare.Group) []finding {
	groups := []compare.Group{workload}
	if workload.Run.Contrast != "io_model" {
		groups = compare.Scenarios(workload.Rows)
	}
	var list []finding
	for _, g := range groups {
		if text := s.finding(g); text != "" {
			list = append(list, finding{g.Cell, text})
		}
	}
	return list
}

// finding names the highest median of a group and what is uncertain about it;
// "" where fewer than two rows can be ranked.
func (s *site) finding(g compare.Group) string {
	ranking := compare.Rank(g)
	if len(ranking.Rows) < 2 {
		return ""
	}
	top := ranking.Rows[0]
	rate := top.Series(compare.Throughput).Spread()
	var b strings.Builder
	fmt.Fprintf(&b, "highest median throughput of this group: %s, %s round trips/s", nameIn(g, top), figure(rate.Median, 0))
	verdict, paired := s.verdict(top)
	if paired {
		b.WriteString(s.against(verdict))
	} else if p99 := top.Series(compare.P99).Spread(); p99.N > 0 {
		fmt.Fprintf(&b, "; p99 %s µs", figure(p99.Median, 2))
	}
	b.WriteString(".")
	var near []string
	for _, r := range ranking.Rows[1:] {
		isBase := paired && r.Cell == verdict.Pair.Base.Cell
		if !isBase && rate.N > 1 && !rate.Separate(r.Series(compare.Throughput).Spread()) {
			near = append(near, nameIn(g, r))
		}
	}
	if len(near) > 0 {
		fmt.Fprintf(&b, " Its range overlaps with %s: no difference from these can be confirmed.", strings.Join(near, "; "))
	}
	b.WriteString(excluded(g, ranking.Excluded))
	return b.String()
}

// against sets the throughput and p99 of a row beside those of its reference.
func (s *site) against(v compare.Verdict) string {
	text := ""
	p := v.Pair
	reference := difference(p.Base, p.Row)
	if v.Ratio.N > 0 {
		text = fmt.Sprintf(", %s × that of %s%s", digits3(round3(v.Ratio.Median)), reference, uncertainty(v))
	}
	row, base := p.Row.Series(compare.P99).Spread(), p.Base.Series(compare.P99).Spread()
	if row.N > 0 && base.N > 0 {
		text += fmt.Sprintf("; p99 %s µs against %s µs", figure(row.Median, 2), figure(base.Median, 2))
		if row.N > 1 && base.N > 1 && !row.Separate(base) {
			text += " (ranges overlap, no difference can be confirmed)"
		}
	}
	return text
}

// uncertainty is the verdict on a ratio with its interval or, where there is
// none, its range and what that leaves open.
func uncertainty(v compare.Verdict) string {
	q := v.Ratio
	switch {
	case q.N == 1:
		return " (one round has no range, no difference can be confirmed)"
	case v.High > 0:
		return fmt.Sprintf(" [%s, %s], %s", digits3(round3(v.Low)), digits3(round3(v.High)), v)
	}
	text := fmt.Sprintf(" [%s, %s]", digits3(round3(q.Min)), digits3(round3(q.Max)))
	if q.Overlap {
		text += " (ranges overlap, no difference can be confirmed)"
	}
	return text
}

// difference names a row by the axis in which it differs from another.
func difference(r, other compare.Row) string {
	a, b := r.Cell, other.Cell
	switch {
	case a.Contender() != b.Contender():
		return escape(a.Contender().String())
	case a.Protocol != b.Protocol:
		return a.Protocol
	case a.Work != b.Work:
		return fmt.Sprintf("work %d", a.Work)
	}
	return ioModel(a)
}

// excluded names the rows that have no rank, reason by reason.
func excluded(g compare.Group, list []compare.Exclusion) string {
	var order []string
	names := map[string][]string{}
	for _, e := range list {
		if names[e.Why] == nil {
			order = append(order, e.Why)
		}
		names[e.Why] = append(names[e.Why], nameIn(g, e.Row))
	}
	text := ""
	for _, why := range order {
		text += fmt.Sprintf(" Not ranked, %s: %s.", why, strings.Join(names[why], "; "))
	}
	return text
}

// nameIn tells a row from the others of its group.
func nameIn(g compare.Group, r compare.Row) string {
	if g.Cell.IOModel == "" {
		return ioModel(r.Cell) + " with " + escape(r.Contender().String())
	}
	return escape(r.Contender().String())
}

// headlines picks one workload to stand for each kind: the payload nearest to
// 1 KiB with the most messages in flight.
func headlines(workloads []compare.Group) []compare.Group {
	type kind struct {
		suite string
		cell  cell.Cell
	}
	var list []compare.Group
	index := map[kind]int{}
	for _, w := range workloads {
		k := kind{w.Run.Suite, w.Cell}
		k.cell.Payload, k.cell.Clients, k.cell.Window = 0, 0, 0
		i, seen := index[k]
		switch {
		case !seen:
			index[k] = len(list)
			list = append(list, w)
		case slices.Compare(prominence(w.Cell), prominence(list[i].Cell)) > 0:
			list[i] = w
		}
	}
	return list
}

// prominence orders workloads of a kind; the highest is the headline.
func prominence(c cell.Cell) []float64 {
	const kib = 1024
	distance := max(float64(c.Payload)/kib, kib/float64(c.Payload))
	return []float64{-distance, float64(c.Clients * c.Window), float64(c.Clients)}
}
