// Package compare turns records into what may be said of them: spreads over
// trials and ratios paired by round. It knows records and numbers; it must not
// know how a report looks.
package compare

import (
	"cmp"
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Scenario is all that was recorded, or planned, of one scenario.
type Scenario struct {
	Cell cell.Cell // without its contender
	Rows []Row     // the baseline first, then by name
}

// Row is one contender in a scenario.
type Row struct {
	Contender cell.Contender
	Planned   int // trials in the schedule; 0 without one
	// Records are the last attempts of the trials, in the order given.
	Records []record.Record
}

// Scenarios gathers records by scenario and contender. What the schedule of
// run names and no record shows has a row without records; run may be nil.
// Scenarios come in the order of their axes.
func Scenarios(run *record.Run, recs []record.Record) []Scenario {
	rows := map[cell.Cell]*Row{}
	row := func(c cell.Cell) *Row {
		if rows[c] == nil {
			rows[c] = &Row{Contender: c.Contender()}
		}
		return rows[c]
	}
	baseline := cell.Contender{}
	if run != nil {
		baseline = run.Baseline
		for _, t := range run.Schedule {
			for _, k := range t.Contenders {
				row(t.Scenario.With(k)).Planned++
			}
		}
	}
	for _, r := range lastAttempts(recs) {
		row := row(r.Cell)
		row.Records = append(row.Records, r)
	}
	return arrange(rows, baseline)
}

func arrange(rows map[cell.Cell]*Row, baseline cell.Contender) []Scenario {
	var list []Scenario
	index := map[cell.Cell]int{}
	for c, row := range rows {
		i, seen := index[c.Scenario()]
		if !seen {
			i = len(list)
			index[c.Scenario()] = i
			list = append(list, Scenario{Cell: c.Scenario()})
		}
		list[i].Rows = append(list[i].Rows, *row)
	}
	slices.SortFunc(list, func(a, b Scenario) int { return compareCells(a.Cell, b.Cell) })
	for _, s := range list {
		slices.SortFunc(s.Rows, func(a, b Row) int {
			return cmp.Or(first(a.Contender, b.Contender, baseline), cmp.Compare(a.Contender.String(), b.Contender.String()))
		})
	}
	return list
}

// first orders whichever of a and b is the favourite before the other.
func first(a, b, favourite cell.Contender) int {
	switch {
	case a == b:
		return 0
	case a == favourite:
		return -1
	case b == favourite:
		return 1
	}
	return 0
}

func compareCells(a, b cell.Cell) int {
	position := func(c cell.Cell) int { return slices.Index(cell.Values("protocol"), c.Protocol) }
	return cmp.Or(
		cmp.Compare(position(a), position(b)),
		cmp.Compare(a.Protocol, b.Protocol), // of those the list does not know
		cmp.Compare(a.Payload, b.Payload),
		cmp.Compare(a.Clients, b.Clients),
		cmp.Compare(a.Window, b.Window),
		cmp.Compare(a.Work, b.Work),
		-cmp.Compare(a.Pattern, b.Pattern), // stream before batch
		cmp.Compare(a.IOModel, b.IOModel),
		cmp.Compare(a.Threads, b.Threads),
		cmp.Compare(a.Rate, b.Rate),
		-cmp.Compare(a.Placement, b.Placement), // split before colocated
		cmp.Compare(a.LoadWait, b.LoadWait),
		cmp.Compare(a.AddressFamily, b.AddressFamily),
	)
}

// lastAttempts drops the records that a later attempt at the same trial
// replaces, and keeps the order of the others.
func lastAttempts(recs []record.Record) []record.Record {
	type trial struct {
		run, group string
		cell       cell.Cell
	}
	key := func(r record.Record) trial { return trial{r.RunID, r.Group, r.Cell} }
	last := map[trial]int{}
	for _, r := range recs {
		last[key(r)] = max(last[key(r)], r.Attempt)
	}
	return slices.DeleteFunc(slices.Clone(recs), func(r record.Record) bool { return r.Attempt < last[key(r)] })
}

// Count is how many of the row's trials ended with a status.
func (r Row) Count(status string) int {
	n := 0
	for _, rec := range r.Records {
		if rec.Status == status {
			n++
		}
	}
	return n
}

// Flagged reports whether a good trial of the row carries a validity flag.
func (r Row) Flagged(flag string) bool {
	return slices.ContainsFunc(r.Records, func(rec record.Record) bool {
		return rec.Status == record.OK && slices.Contains(rec.Validity.Flags, flag)
	})
}

// Round is what trials are paired by.
type Round struct {
	RunID, Suite string
	N            int
}

// Series is one metric of one row, round by round.
type Series map[Round]float64

// Series takes a metric from the row's good trials.
func (r Row) Series(m Metric) Series {
	s := Series{}
	for i := range r.Records {
		rec := &r.Records[i]
		if v := m.Of(rec); v != nil && rec.Status == record.OK {
			s[Round{rec.RunID, rec.Suite, rec.Round}] = *v
		}
	}
	return s
}

// Spread is the spread of the series over its rounds.
func (s Series) Spread() Spread {
	values := make([]float64, 0, len(s))
	for _, v := range s {
		values = append(values, v)
	}
	return SpreadOf(values)
}

// Ratios divides s by base in each round that both have and in which base is
// not 0.
func (s Series) Ratios(base Series) Series {
	ratios := Series{}
	for round, v := range s {
		if b, ok := base[round]; ok && b != 0 {
			ratios[round] = v / b
		}
	}
	return ratios
}
