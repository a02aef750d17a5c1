package driver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
)

const (
	// littleSlack is by how much the sum of a slice's RTTs may differ from what
	// Little's law makes of the time and the messages in flight.
	littleSlack = 0.1
	// edgeShare is how long an RTT may be, as a share of its slice, for the sum
	// to be held to the law: the edges cut off as much.
	edgeShare = 0.01
)

// unlawful says how the load's figures of entrant i contradict each other, ""
// if they do not: in a closed loop the sum of all RTTs is the time times what is
// in flight (J. D. C. Little, "A Proof for the Queuing Formula L = λW", 1961).
//
// A load that was kept from its CPU finds echoes only after their slice, and
// they count nowhere, so only what nobody disturbed is held to it; and lost
// datagrams are in flight without an RTT. While the load works on a connection
// that has nothing in flight: an RTT ends when its echo arrives and the next
// begins when a message is handed over. So much less may be there.
func (a *attempt) unlawful(i int) string {
	if a.cell.Rate > 0 || a.others == nil || a.others.Disturbed || a.result.Targets[i].Counts[control.CountLost] > 0 {
		return ""
	}
	flying := int64(a.cell.Clients)
	if a.cell.Pattern == cell.Stream {
		flying *= int64(a.cell.Window) // a batch is one
	}
	window := flying / int64(a.cell.Clients)
	var counted []control.Sample
	for n, s := range a.result.Slices {
		if a.plan[n].Counted && a.plan[n].Target == i {
			counted = append(counted, s)
		}
	}
	return littlesLaw(counted, flying, window)
}

// littlesLaw looks at the slice in the middle, by how much of the law it keeps.
// flying is what all connections have in flight, window what one has.
func littlesLaw(counted []control.Sample, flying, window int64) string {
	if len(counted) == 0 {
		return ""
	}
	kept := func(s control.Sample) float64 { return float64(s.RTTSum) / float64(flying*(s.End-s.Start)) }
	slices.SortFunc(counted, func(x, y control.Sample) int { return cmp.Compare(kept(x), kept(y)) })
	s := counted[len(counted)/2]
	share, short := kept(s), float64(s.RTTSum) < edgeShare*float64(s.RoundTrips)*float64(s.End-s.Start)
	inHand := 1.0 // unknown or colocated: the load may have worked all the time
	if s.Working >= 0 {
		inHand = float64(s.Working) / float64(s.End-s.Start)
	}
	least := 1 - littleSlack - inHand*float64(window)/float64(flying)
	if s.RoundTrips == 0 || !short || share >= least && share <= 1+littleSlack {
		return ""
	}
	return fmt.Sprintf("the load contradicts itself: with %d in flight for %v the RTTs of a slice should add up to %v, but they add up to %v (Little's law)",
		flying, time.Duration(s.End-s.Start), time.Duration(flying*(s.End-s.Start)), time.Duration(s.RTTSum))
}
