package rawpoll

import (
	"sync"
	"sync/atomic"
)

// timer is the one alarm of a handle. The zero value is unarmed.
type timer struct {
	when  int64 // on the runtime's clock
	place int   // position in the heap plus one; 0: unarmed
	busy  bool  // while it is armed no thread of the loop sleeps
	owner *handle
}

// timers is a binary heap by time. It takes a lock because goroutines and the
// threads of a shared loop arm timers too; threads look at next without it.
type timers struct {
	next atomic.Int64 // when the first runs out; 0: none is armed
	busy atomic.Int64 // armed ones that forbid sleep

	mu   sync.Mutex
	heap []*timer
}

// set arms t, or moves it, and reports whether it is now the first of all.
func (ts *timers) set(t *timer, when int64) (first bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.when = max(when, 1) // 0 says "none" in next
	if t.place == 0 {
		ts.heap = append(ts.heap, t)
		t.place = len(ts.heap)
		if t.busy {
			ts.busy.Add(1)
		}
	}
	ts.down(ts.up(t.place - 1))
	ts.publish()
	return t.place == 1
}

// stop disarms t.
func (ts *timers) stop(t *timer) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.place > 0 {
		ts.remove(t)
	}
}

// armed reports whether t is waiting.
func (ts *timers) armed(t *timer) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.place > 0
}

// due disarms and returns a timer that has run out at now, or nil.
func (ts *timers) due(now int64) *timer {
	if next := ts.next.Load(); next == 0 || next > now {
		return nil
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.heap) == 0 || ts.heap[0].when > now {
		return nil // another thread was faster
	}
	t := ts.heap[0]
	ts.remove(t)
	return t
}

func (ts *timers) remove(t *timer) {
	i, last := t.place-1, len(ts.heap)-1
	t.place = 0
	if t.busy {
		ts.busy.Add(-1)
	}
	moved := ts.heap[last]
	ts.heap[last] = nil
	ts.heap = ts.heap[:last]
	if i != last {
		ts.put(moved, i)
		ts.down(ts.up(i))
	}
	ts.publish()
}

func (ts *timers) publish() {
	if len(ts.heap) == 0 {
		ts.next.Store(0)
		return
	}
	ts.next.Store(ts.heap[0].when)
}

// up moves the timer at i towards the root and returns where it ends.
func (ts *timers) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if ts.heap[parent].when <= ts.heap[i].when {
			break
		}
		ts.swap(i, parent)
		i = parent
	}
	return i
}

// down moves the timer at i away from the root.
func (ts *timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(ts.heap) {
			return
		}
		if right := child + 1; right < len(ts.heap) && ts.heap[right].when < ts.heap[child].when {
			child = right
		}
		if ts.heap[i].when <= ts.heap[child].when {
			return
		}
		ts.swap(i, child)
		i = child
	}
}

func (ts *timers) swap(i, j int) {
	a, b := ts.heap[i], ts.heap[j]
	ts.put(a, j)
	ts.put(b, i)
}

func (ts *timers) put(t *timer, i int) {
	ts.heap[i] = t
	t.place = i + 1
}
