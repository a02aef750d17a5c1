package rawpoll

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// routine is the goroutine of one connection. Threads leave it signals; it
// parks while there are none, and takes the connection's turns itself.
type routine struct {
	conn    *conn
	signals atomic.Uint32
	token   chan struct{}
}

func newRoutine(c *conn) *routine {
	return &routine{conn: c, token: make(chan struct{}, 1)}
}

// scratch lends buffers to goroutines for a turn. What runs on one P, one after
// the other, gets the same ones, as on a thread.
var scratch = sync.Pool{New: func() any { return new(buffers) }}

// tell leaves s and unparks the goroutine. From any goroutine.
func (r *routine) tell(s signal) {
	r.signals.Or(uint32(s))
	select {
	case r.token <- struct{}{}:
	default: // it has not looked since the last one
	}
}

func (r *routine) run() {
	defer r.conn.group.open.Done()
	for !r.conn.closed {
		<-r.token
		b := scratch.Get().(*buffers)
		for r.conn.turn(b, signal(r.signals.Swap(0))) {
			runtime.Gosched() // a flood on one connection must not starve the others
		}
		scratch.Put(b)
	}
}
