package rawpoll

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// loop is one poller with all that is registered with it, and the threads that
// work it: one, or several in the shared model.
type loop struct {
	clock   func() int64
	poller  *poller
	threads []*thread
	running sync.WaitGroup // of threads

	handles    table
	timers     timers
	generation atomic.Int32

	mu      sync.Mutex
	posted  []func(*thread)
	waiting atomic.Bool // there is something posted
	stopped atomic.Bool
}

// startLoops starts the threads of an IO model: as many loops as threads when
// sharded, else one loop for all.
func startLoops(clock func() int64, model string, threads int) ([]*loop, error) {
	count, each := 1, threads
	if model == sharded {
		count, each = threads, 1
	}
	var loops []*loop
	for range count {
		l, err := startLoop(clock, each)
		if err != nil {
			for _, started := range loops {
				started.stop()
			}
			return nil, fmt.Errorf("start loop %d of %d: %w", len(loops)+1, count, err)
		}
		loops = append(loops, l)
	}
	return loops, nil
}

func startLoop(clock func() int64, threads int) (*loop, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{clock: clock, poller: p}
	for range threads {
		l.threads = append(l.threads, newThread(l, threads))
	}
	for _, t := range l.threads {
		l.running.Go(t.run)
	}
	return l, nil
}

// stop ends the threads and waits for them.
func (l *loop) stop() {
	l.stopped.Store(true)
	l.poller.wake()
	l.running.Wait()
	l.poller.close()
}

// post has f called on a thread of the loop. From any goroutine.
func (l *loop) post(f func(*thread)) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.waiting.Store(true)
	l.mu.Unlock()
	l.poller.wake()
}

// take returns what was posted.
func (l *loop) take() []func(*thread) {
	l.mu.Lock()
	defer l.mu.Unlock()
	posted := l.posted
	l.posted = nil
	l.waiting.Store(false)
	return posted
}

// schedule arms the timer of h. A goroutine may do so while the threads sleep
// towards a later time, so they are woken for it; a thread of the loop itself
// looks at the timers before it sleeps.
func (l *loop) schedule(h *handle, when int64) {
	if l.timers.set(&h.timer, when) && h.routine != nil {
		l.poller.wake()
	}
}

// patience is how long a thread may sleep, in nanoseconds: 0 not at all, -1
// until it is woken.
func (l *loop) patience() int64 {
	next := l.timers.next.Load()
	if next == 0 {
		return -1
	}
	return max(next-l.clock(), 0)
}
