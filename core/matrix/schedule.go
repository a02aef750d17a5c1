package matrix

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

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
	Twin       cell.Contender // measured a second time, as its own twin; zero: none
}

// Schedule orders the trials of a suite: round by round over all cells, the
// scenarios shuffled anew in each. A split scenario takes all its contenders in
// one trial. Colocated contenders have a trial each, since each is a process
// with its own load; they stay neighbours, in an order shuffled too, so that
// slow drift falls on all of them alike. The suite's twin takes part like one
// contender more wherever it is set against others.
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
			if len(t.Contenders) > 1 && slices.Contains(t.Contenders, s.Twin) {
				t.Twin = s.Twin
			}
			for _, sitting := range sittings(t, chance) {
				sitting.Order = len(trials) + 1
				trials = append(trials, sitting)
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

// sittings splits a trial into one for each set of contenders, the twin
// included, that can be measured side by side.
func sittings(t Trial, chance *rand.Rand) []Trial {
	if t.Scenario.Placement == cell.Split {
		return []Trial{t}
	}
	var each []Trial
	for _, k := range t.Contenders {
		one := t
		one.Contenders, one.Twin = []cell.Contender{k}, cell.Contender{}
		each = append(each, one)
	}
	if t.Twin != (cell.Contender{}) {
		one := t
		one.Contenders = nil
		each = append(each, one)
	}
	chance.Shuffle(len(each), func(i, j int) { each[i], each[j] = each[j], each[i] })
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
