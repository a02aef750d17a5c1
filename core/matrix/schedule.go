package matrix

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"github.com/netmatrix/netmatrix/core/cell"
)

// Trial is one measurement to make: a scenario with the contenders that are
// alive side by side.
type Trial struct {
	Order      int    // from 1, over the suite
	Round      int    // from 1
	Group      string // names suite, scenario and round, the same in every schedule
	Scenario   cell.Cell
	Contenders []cell.Contender
}

// Schedule orders the trials of a suite: round by round over all cells, the
// scenarios shuffled anew in each. A split scenario takes all its contenders in
// one trial. Colocated contenders have a trial each, since each is a process
// with its own load; they stay neighbours, in an order shuffled too, so that
// slow drift falls on all of them alike.
//
// The same suite, cells, rounds and seed give the same schedule, and a round
// does not depend on how many there are.
func Schedule(s *Suite, cells []cell.Cell, rounds int, seed uint64) []Trial {
	scenarios := group(cells)
	var trials []Trial
	for round := 1; round <= rounds; round++ {
		chance := rand.New(rand.NewPCG(seed, uint64(round)))
		for _, i := range chance.Perm(len(scenarios)) {
			t := scenarios[i]
			t.Round = round
			t.Group = fmt.Sprintf("r%d-%s", round, hash(s.Name, t.Scenario))
			for _, together := range sittings(t, chance) {
				t.Order = len(trials) + 1
				t.Contenders = together
				trials = append(trials, t)
			}
		}
	}
	return trials
}

// group makes a trial without round of each scenario, in the order of the cells.
func group(cells []cell.Cell) []Trial {
	var scenarios []Trial
	index := make(map[cell.Cell]int)
	for _, c := range cells {
		i, known := index[c.Scenario()]
		if !known {
			i = len(scenarios)
			index[c.Scenario()] = i
			scenarios = append(scenarios, Trial{Scenario: c.Scenario()})
		}
		scenarios[i].Contenders = append(scenarios[i].Contenders, c.Contender())
	}
	return scenarios
}

// sittings splits the contenders of a scenario into those that share a trial.
func sittings(t Trial, chance *rand.Rand) [][]cell.Contender {
	if t.Scenario.Placement == cell.Split {
		return [][]cell.Contender{t.Contenders}
	}
	var each [][]cell.Contender
	for _, i := range chance.Perm(len(t.Contenders)) {
		each = append(each, []cell.Contender{t.Contenders[i]})
	}
	return each
}

// hash is short and yet long enough that MaxCells scenarios do not meet. It goes
// over every axis, which Cell.String does not.
func hash(suite string, scenario cell.Cell) string {
	h := sha256.New()
	fmt.Fprintln(h, suite)
	for _, a := range axes {
		fmt.Fprintln(h, a.name, a.get(&scenario))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}
