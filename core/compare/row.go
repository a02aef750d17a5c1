package compare

import (
	"cmp"
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Row is all that was recorded, or planned, of one cell in one suite.
type Row struct {
	Run     *record.Run // that planned it; of several, the first
	Cell    cell.Cell
	Planned int // trials in the schedules
	// Records are the last attempts of the trials, in the order given.
	Records  []record.Record
	Repeated int // records before them, of attempts that were disturbed
}

// key is what tells rows, and groups of them, apart.
type key struct {
	suite string
	cell  cell.Cell
}

// Rows gathers records by suite and cell. What a schedule names and no record
// shows has a row without records. Suites stay in the order given; their rows
// come in the order of the axes, and the baseline before other contenders. Twins
// have no rows.
func Rows(all []Results) []Row { return rowsOf(all, false) }

// Twins gathers the records of twins likewise.
func Twins(all []Results) []Row { return rowsOf(all, true) }

func rowsOf(all []Results, twins bool) []Row {
	var rows []*Row
	index := map[key]*Row{}
	row := func(run *record.Run, c cell.Cell) *Row {
		k := key{run.Suite, c}
		if index[k] == nil {
			index[k] = &Row{Run: run, Cell: c}
			rows = append(rows, index[k])
		}
		return index[k]
	}
	suites := map[string]int{}
	for _, res := range all {
		if _, seen := suites[res.Run.Suite]; !seen {
			suites[res.Run.Suite] = len(suites)
		}
		for _, t := range res.Run.Schedule {
			for _, k := range t.Contenders {
				if !twins {
					row(res.Run, t.Scenario.With(k)).Planned++
				}
			}
			if twins && t.Twin != (cell.Contender{}) {
				row(res.Run, t.Scenario.With(t.Twin)).Planned++
			}
		}
		last := lastAttempts(res.Records)
		for _, r := range res.Records {
			if r.Twin != twins {
				continue
			}
			row := row(res.Run, r.Cell)
			if r.Attempt < last[trialOf(r)] {
				row.Repeated++
				continue
			}
			row.Records = append(row.Records, r)
		}
	}
	sorted := make([]Row, len(rows))
	for i, r := range rows {
		sorted[i] = *r
	}
	slices.SortFunc(sorted, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(suites[a.Run.Suite], suites[b.Run.Suite]),
			compareScenarios(a.Cell, b.Cell),
			compareContenders(a, b),
		)
	})
	return sorted
}

// Contender is who was measured.
func (r Row) Contender() cell.Contender { return r.Cell.Contender() }

// Count is how many of the row's trials ended with a status.
func (r Row) Count(status string) int {
	n := 0
	for i := range r.Records {
		if r.Records[i].Status == status {
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

// trial is what attempts have in common.
type trial struct {
	run, group string
	cell       cell.Cell
	twin       bool
}

func trialOf(r record.Record) trial { return trial{r.RunID, r.Group, r.Cell, r.Twin} }

// lastAttempts are the numbers of the attempts that count.
func lastAttempts(recs []record.Record) map[trial]int {
	last := map[trial]int{}
	for _, r := range recs {
		last[trialOf(r)] = max(last[trialOf(r)], r.Attempt)
	}
	return last
}

func compareScenarios(a, b cell.Cell) int {
	return cmp.Or(
		comparePositions("protocol", a.Protocol, b.Protocol),
		cmp.Compare(a.Payload, b.Payload),
		cmp.Compare(a.Clients, b.Clients),
		cmp.Compare(a.Window, b.Window),
		cmp.Compare(a.Work, b.Work),
		comparePositions("pattern", a.Pattern, b.Pattern),
		comparePositions("placement", a.Placement, b.Placement),
		cmp.Compare(a.Rate, b.Rate),
		comparePositions("load_wait", a.LoadWait, b.LoadWait),
		comparePositions("address_family", a.AddressFamily, b.AddressFamily),
		compareIOModels(a, b),
	)
}

func compareIOModels(a, b cell.Cell) int {
	return cmp.Or(comparePositions("io_model", a.IOModel, b.IOModel), cmp.Compare(a.Threads, b.Threads))
}

// comparePositions orders values as the axis lists them, and those that it does
// not know by name, first.
func comparePositions(axis, a, b string) int {
	values := cell.Values(axis)
	return cmp.Or(cmp.Compare(slices.Index(values, a), slices.Index(values, b)), cmp.Compare(a, b))
}

// compareContenders puts the baseline before all others.
func compareContenders(a, b Row) int {
	rank := func(r Row) int {
		if r.Contender() == r.Run.Baseline {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Contender().String(), b.Contender().String()))
}
