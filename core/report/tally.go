package report

import (
	"fmt"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// tally counts what came of a plan.
type tally struct {
	done   int            // trials with a record
	status map[string]int // records, by status
	total  int            // records
}

func tallyOf(all []compare.Results) tally {
	type trial struct {
		run   string
		order int
	}
	done := map[trial]bool{}
	t := tally{status: map[string]int{}}
	for _, r := range append(compare.Rows(all), compare.Twins(all)...) {
		for _, rec := range r.Records {
			done[trial{rec.RunID, rec.Order}] = true
			t.status[rec.Status]++
			t.total++
		}
	}
	t.done = len(done)
	return t
}

// records says how many there are and how they stand.
func (t tally) records() string {
	var parts []string
	for _, s := range append([]string{record.OK}, statuses...) {
		parts = append(parts, fmt.Sprintf("%d %s", t.status[s], s))
	}
	return fmt.Sprintf("%d, of them %s", t.total, strings.Join(parts, ", "))
}
