package conformance

import "container/heap"

// timeline is a virtual clock and what is due on it. Nothing runs beside it:
// time passes only by going on to the next event.
type timeline struct {
	now    int64 // nanoseconds
	made   uint64
	events eventHeap
}

// Events of one instant run in this order, and those of one rank in the order
// in which they were scheduled.
const (
	rankWire = iota // something arrives, a timer is due
	rankRead        // a session reads what has arrived, all of it
)

type event struct {
	at   int64
	rank int
	made uint64
	run  func()
}

// at schedules run for a time, or for now if that has passed.
func (t *timeline) at(when int64, rank int, run func()) {
	t.made++
	heap.Push(&t.events, event{max(when, t.now), rank, t.made, run})
}

// step goes on to the next event and runs it; false: there is none.
func (t *timeline) step() bool {
	if len(t.events) == 0 {
		return false
	}
	next := heap.Pop(&t.events).(event)
	t.now = max(t.now, next.at) // Advance may have gone past it
	next.run()
	return true
}

type eventHeap []event

func (h eventHeap) Len() int      { return len(h) }
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }

func (h eventHeap) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	return a.made < b.made
}

func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = event{} // lets go of what run holds
	*h = old[:len(old)-1]
	return last
}
