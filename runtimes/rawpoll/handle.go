package rawpoll

import (
	"sync"
	"sync/atomic"
)

// source is what a loop watches: a connection, a datagram socket or a listener.
type source interface {
	// turn acts on s with the buffers of whoever runs it. Turns of one source
	// are serial. It says whether the source has more to do at once; it then
	// gets another turn after those that wait.
	turn(b *buffers, s signal) (again bool)
}

// buffers are scratch space for one turn, shared by all sources that take
// their turns one after the other.
type buffers struct {
	in   []byte
	out  []byte
	mail *mail // nil: no datagram socket has needed one yet
}

// input returns n bytes to read into.
func (b *buffers) input(n int) []byte {
	if len(b.in) < n {
		b.in = make([]byte, n)
	}
	return b.in[:n]
}

// datagrams returns room for many datagrams at once.
func (b *buffers) datagrams() *mail {
	if b.mail == nil {
		b.mail = newMail()
	}
	return b.mail
}

// handle is the registration of one descriptor with one loop.
type handle struct {
	source  source
	group   *group
	loop    *loop
	routine routine // goroutine execution: where turns are taken; nil: on a thread
	fd      int
	gen     int32 // tells apart the users of one descriptor number, one after the other
	timer   timer

	baton  baton // to be held for what follows
	closed bool  // the descriptor is no longer ours
	queued bool  // on the ready list of a thread
}

// register puts h under watch. Nobody else knows of it after an error.
func (h *handle) register() error {
	l := h.loop
	h.gen = l.generation.Add(1)
	if err := l.poller.add(h.fd, h.gen); err != nil {
		return err
	}
	l.handles.set(h.fd, h)
	l.poller.watch(h.fd, h.gen)
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
