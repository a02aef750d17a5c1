package matrix

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

func TestScheduleIsComplete(t *testing.T) {
	const rounds = 4
	for _, placement := range []string{cell.Split, cell.Colocated} {
		t.Run(placement, func(t *testing.T) {
			all := grid(placement)
			perRound := map[string]int{cell.Split: 4, cell.Colocated: 8}[placement]
			trials := Schedule(&Suite{Name: "s"}, all, rounds, 7)
			if len(trials) != rounds*perRound {
				t.Fatalf("got %d trials, want %d", len(trials), rounds*perRound)
			}
			times := make(map[string]int) // a cell in a round → how often
			for i, trial := range trials {
				if trial.Order != i+1 || trial.Round != 1+i/perRound {
					t.Errorf("trial %d: got order %d, round %d", i+1, trial.Order, trial.Round)
				}
				for _, k := range trial.Contenders {
					times[fmt.Sprintf("%d %+v", trial.Round, trial.Scenario.With(k))]++
				}
			}
			for round := 1; round <= rounds; round++ {
				for _, c := range all {
					if n := times[fmt.Sprintf("%d %+v", round, c)]; n != 1 {
						t.Errorf("round %d: %v is there %d times, want once", round, c, n)
					}
				}
			}
		})
	}
}

func TestScheduleFollowsTheSeed(t *testing.T) {
	s, all := &Suite{Name: "s"}, grid(cell.Colocated)
	first := Schedule(s, all, 3, 1)
	if !reflect.DeepEqual(Schedule(s, all, 3, 1), first) {
		t.Error("the same seed gave another schedule")
	}
	if reflect.DeepEqual(Schedule(s, all, 3, 2), first) {
		t.Error("another seed gave the same schedule")
	}
	if !reflect.DeepEqual(Schedule(s, all, 5, 1)[:len(first)], first) {
		t.Error("more rounds changed the first three")
	}
	order := func(round int) (scenarios []cell.Cell) {
		for _, trial := range first {
			if trial.Round == round {
				scenarios = append(scenarios, trial.Scenario.With(trial.Contenders[0]))
			}
		}
		return scenarios
	}
	if reflect.DeepEqual(order(1), order(2)) && reflect.DeepEqual(order(2), order(3)) {
		t.Error("all rounds have the same order")
	}
}

// Records are paired by group, so colocated contenders share one and stay
// neighbours, while what differs on any axis, suite or round does not.
func TestGroups(t *testing.T) {
	trials := Schedule(&Suite{Name: "s"}, grid(cell.Colocated), 2, 3)
	for i := 0; i < len(trials); i += 2 {
		a, b := trials[i], trials[i+1]
		if a.Group != b.Group || a.Scenario != b.Scenario || a.Contenders[0] == b.Contenders[0] {
			t.Errorf("trials %d and %d: got %+v and %+v, want two contenders of one group", a.Order, b.Order, a, b)
		}
	}
	c := grid(cell.Split)[0]
	awake := Schedule(&Suite{Name: "s"}, []cell.Cell{c}, 2, 3)
	c.LoadWait = cell.Sleep
	asleep := Schedule(&Suite{Name: "s"}, []cell.Cell{c}, 1, 3)
	other := Schedule(&Suite{Name: "t"}, []cell.Cell{c}, 1, 3)
	groups := map[string]bool{awake[0].Group: true, awake[1].Group: true, asleep[0].Group: true, other[0].Group: true}
	if len(groups) != 4 {
		t.Errorf("got groups %v, want four", groups)
	}
	if awake[0].Group[1:] == awake[1].Group[1:] || awake[0].Group[2:] != awake[1].Group[2:] {
		t.Errorf("got %s and %s, want them to differ in the round only", awake[0].Group, awake[1].Group)
	}
}

// The twin is one more wherever it is set against others, beside them or in a
// trial of its own.
func TestScheduleHasTwins(t *testing.T) {
	for _, placement := range []string{cell.Split, cell.Colocated} {
		all := grid(placement)
		twin := all[0].Contender()
		for _, tt := range []struct {
			name  string
			cells []cell.Cell
			twin  cell.Contender
			want  int // in all scenarios of a round
		}{
			{"of one that takes part", all, twin, 4},
			{"of nobody", all, cell.Contender{}, 0},
			{"of one that takes no part", all, cell.Contender{Runtime: "elsewhere"}, 0},
			{"of one that is set against nobody", all[:1], twin, 0},
		} {
			got := 0
			for _, trial := range Schedule(&Suite{Name: "s", Twin: tt.twin}, tt.cells, 1, 7) {
				if trial.Twin == (cell.Contender{}) {
					continue
				}
				got++
				if beside := len(trial.Contenders); trial.Twin != twin || (beside > 0) != (placement == cell.Split) {
					t.Errorf("%s, %s: got the twin of %v beside %d contenders", placement, tt.name, trial.Twin, beside)
				}
			}
			if got != tt.want {
				t.Errorf("%s, %s: got %d twins, want %d", placement, tt.name, got, tt.want)
			}
		}
	}
}
