package driver

import "github.com/netmatrix/netmatrix/core/cell"

// entrant is who takes part in a trial: a contender, or the twin of one, which
// is the same plugin in a process of its own.
type entrant struct {
	cell.Contender
	twin bool
}

func (e entrant) String() string {
	if e.twin {
		return "twin of " + e.Contender.String()
	}
	return e.Contender.String()
}

// entrants are those of a trial: its contenders, then the twin if it has one.
func (t Trial) entrants() []entrant {
	var list []entrant
	for _, c := range t.Contenders {
		list = append(list, entrant{Contender: c})
	}
	if t.Twin != (cell.Contender{}) {
		list = append(list, entrant{t.Twin, true})
	}
	return list
}
