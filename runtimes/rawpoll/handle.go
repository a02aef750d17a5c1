package rawpoll

import (
	"sync"
	"sync/atomic"
)

// signal is a set of things that a source is told in one turn.
type signal uint32

const (
	readable signal = 1 << iota // input or the end of input has arrived
	writable                    // output fits again
	hungUp                      // the peer has sent its last byte, or the connection broke
	expired                     // the timer ran out
	woken                       // Group.Wake
	shut                        // Group.Close
)

// source is what a loop watches: a connection or a listener.
type source interface {
	// turn acts on s with the buffers of whoever runs it. Turns of one source
	// are serial. It says whether the source has more to do at once; it then
	// gets another turn after those that wait.
	turn(b *buffers, s signal) (again bool)
	// interest is what to watch for next, asked after a turn in one-shot mode.
	interest() (in, out bool)
}

// buffers are scratch space for one turn, shared by all sources that take
// their turns one after the other.
type buffers struct {
	in  []byte
	out []byte
}

// input returns n bytes to read into.
func (b *buffers) input(n int) []byte {
	if len(b.in) < n {
		b.in = make([]byte, n)
	}
	return b.in[:n]
}

// handle is the registration of one descriptor with one loop.
type handle struct {
	source  source
	group   *group
	loop    *loop
	routine *routine // goroutine execution: who takes the turns; nil: the thread
	fd      int
	gen     int32 // tells apart the users of one descriptor number, one after the other
	timer   timer

	// mu makes turns serial where several threads share the loop. The kernel's
	// one-shot order alone would do, but the memory model does not see it.
	mu     sync.Mutex
	closed bool // the descriptor is no longer ours
	queued bool // on the thread's ready list
}

// oneShot reports whether the descriptor is disarmed by each event, so that one
// thread at a time has it.
func (h *handle) oneShot() bool { return h.routine == nil && len(h.loop.threads) > 1 }

// register puts h under watch. Nothing of it is known to anyone after an error.
func (h *handle) register() error {
	l := h.loop
	h.gen = l.generation.Add(1)
	if err := l.poller.add(h.fd, h.gen); err != nil {
		return err
	}
	l.handles.set(h.fd, h)
	if h.oneShot() {
		l.poller.rearm(h.fd, h.gen, true, true)
	} else {
		l.poller.watch(h.fd, h.gen)
	}
	return nil
}

// release gives the descriptor back. Events of it that a thread already has in
// hand find its slot empty, or another generation in it.
func (h *handle) release() {
	h.closed = true
	h.loop.timers.stop(&h.timer)
	h.loop.handles.set(h.fd, nil)
	closeSocket(h.fd)
}

// table finds the handle of a descriptor. Looking up takes no lock.
type table struct {
	mu    sync.Mutex // held to change
	slots atomic.Pointer[[]atomic.Pointer[handle]]
}

func (t *table) get(fd int) *handle {
	if slots := t.slots.Load(); slots != nil && uint(fd) < uint(len(*slots)) {
		return (*slots)[fd].Load()
	}
	return nil
}

// set puts h, or nil, into the slot of fd.
func (t *table) set(fd int, h *handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := t.slots.Load()
	if slots == nil || fd >= len(*slots) {
		grown := make([]atomic.Pointer[handle], max(64, 2*fd))
		if slots != nil {
			for i := range *slots {
				grown[i].Store((*slots)[i].Load())
			}
		}
		slots = &grown
		t.slots.Store(slots)
	}
	(*slots)[fd].Store(h)
}

// all returns what is registered at the moment.
func (t *table) all() (list []*handle) {
	slots := t.slots.Load()
	if slots == nil {
		return nil
	}
	for i := range *slots {
		if h := (*slots)[i].Load(); h != nil {
			list = append(list, h)
		}
	}
	return list
}
