// Package compare turns records into what may be said of them: spreads over
// trials, ratios paired by round, and verdicts in words. It knows records and
// numbers; it must not know how a report looks.
package compare

import (
	"fmt"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Results is what one results folder holds.
type Results struct {
	Dir     string
	Run     *record.Run
	Records []record.Record
}

// Disjoint reports a trial that two of the results both recorded, since nothing
// tells which of the two to count.
func Disjoint(all []Results) error {
	type place struct {
		suite string
		cell  cell.Cell
		round int
		twin  bool
	}
	holder := map[place]int{}
	for i, res := range all {
		for _, r := range res.Records {
			key := place{res.Run.Suite, r.Cell, r.Round, r.Twin}
			if j, seen := holder[key]; seen && j != i {
				return fmt.Errorf("%s and %s both hold round %d of %s in suite %s: report them apart, each with its own --out",
					all[j].Dir, res.Dir, r.Round, r.Cell, res.Run.Suite)
			}
			holder[key] = i
		}
	}
	return nil
}
