package rawpoll

import (
	"runtime"
	"sync/atomic"
)

const (
	// batch is how many events a thread takes at once when the loop is its own.
	batch = 256
	// sharedBatch is small so that a thread does not hoard what another, idle
	// one could do.
	sharedBatch = 8
	// yieldEvery, nanoseconds, is how long a thread goes without sleeping until
	// it lets other goroutines run: there are no more Ps than IO threads.
	yieldEvery = 1e6
	// afterBusy, nanoseconds, is how long a thread that was busy keeps yielding
	// before it sleeps. Asleep in a system call it would hold on to its P until
	// sysmon takes that away, and whoever waits for the end of the busy time
	// would wait for that too.
	afterBusy = 20e6
)

// thread is one IO thread of a loop: a goroutine that polls and hands out turns.
//
// Note: it is not locked to its operating system thread. Tried, that costs 2 to
// 3 % in callback execution; affinity is set for the process anyway.
type thread struct {
	loop *loop
	buffers
	events []event
	ready  []*handle // sources that have more to do
	spare  []*handle // the other list, while one is worked off
	woke   bool      // batons went to goroutines, which want the P

	worked  atomic.Int64 // nanoseconds with something in hand
	yielded int64        // when other goroutines last had their chance
	awake   int64        // until when it yields instead of sleeping
}

func newThread(l *loop, threads int) *thread {
	size := batch
	if threads > 1 {
		size = sharedBatch
	}
	return &thread{loop: l, events: make([]event, size)}
}

func (t *thread) run() {
	l := t.loop
	now := l.clock()
	t.yielded = now
	for !l.stopped.Load() {
		n := l.poller.poll(t.events)
		if n == 0 && len(t.ready) == 0 {
			n, now = t.idle(now)
		}
		worked := t.work(n, now)
		if t.woke {
			t.woke = false
			runtime.Gosched()
			t.yielded = now
		}
		then := l.clock()
		if worked {
			t.worked.Add(then - now)
		}
		now = then
		if now-t.yielded > yieldEvery {
			runtime.Gosched()
			now = l.clock()
			t.yielded = now
		}
	}
	l.poller.wake() // for the next thread to see that it is over
}

// idle sleeps as long as there is nothing to do, if it may. It returns the
// number of events and the time.
func (t *thread) idle(now int64) (int, int64) {
	if t.loop.waiting.Load() {
		return 0, now
	}
	if t.loop.timers.busy.Load() > 0 {
		t.awake = now + afterBusy
		return 0, now
	}
	if now < t.awake {
		runtime.Gosched()
		t.yielded = now
		return 0, t.loop.clock()
	}
	patience := t.loop.patience()
	if patience == 0 {
		return 0, now
	}
	n := t.loop.poller.wait(t.events, patience)
	now = t.loop.clock()
	t.yielded = now
	return n, now
}

// work hands out turns: to the first n events, to sources that had more to do,
// to what was posted and to timers that have run out at now. It reports whether
// there was any.
func (t *thread) work(n int, now int64) bool {
	l := t.loop
	worked := n > 0 || len(t.ready) > 0
	again := t.ready
	t.ready, t.spare = t.spare[:0], again
	for i := range t.events[:n] {
		e := &t.events[i]
		if h := l.target(e); h != nil {
			t.tell(h, signals(e))
		}
	}
	for _, h := range again {
		t.tell(h, resumed)
	}
	if l.waiting.Load() {
		worked = true
		for _, f := range l.take() {
			f(t)
		}
	}
	for due := l.timers.due(now); due != nil; due = l.timers.due(now) {
		worked = true
		t.tell(due.owner, expired)
	}
	return worked
}

// tell gives h a turn, here or on its goroutine, unless another thread or that
// goroutine is at it: then s is left for one more.
func (t *thread) tell(h *handle, s signal) {
	if !h.baton.take(s) {
		return
	}
	if h.routine != nil {
		h.routine <- s
		t.woke = true
		return
	}
	for {
		if s&resumed != 0 {
			h.queued = false
		}
		if h.source.turn(&t.buffers, s) && !h.queued {
			h.queued = true
			t.ready = append(t.ready, h)
		}
		if h.baton.give() {
			return
		}
		s = h.baton.left()
	}
}
