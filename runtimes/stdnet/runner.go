package stdnet

import (
	"errors"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// runner is what running a session takes whatever the socket is: the lock that
// makes its calls serial, how it ends and when it is woken.
type runner struct {
	session transport.Session
	waker   transport.Waker // nil: the session is none
	clock   func() int64
	asked   chan struct{} // holds one: Wake is due at once
	ended   chan struct{} // closed when over is set

	mu   sync.Mutex
	over bool  // the session is not called any more, but for Close
	err  error // what Close will say
}

func (r *runner) init(clock func() int64, s transport.Session) {
	r.session = s
	r.waker, _ = s.(transport.Waker)
	r.clock = clock
	r.asked = make(chan struct{}, 1)
	r.ended = make(chan struct{})
}

// end is the end of the session, once. With the lock held.
func (r *runner) end(err error) {
	r.over = true
	if !errors.Is(err, transport.ErrDone) {
		r.err = err
	}
	close(r.ended)
}

// Ask has Wake called soon. From any goroutine.
func (r *runner) Ask() {
	select {
	case r.asked <- struct{}{}:
	default: // it is asked for already
	}
}

// wake is the wake pump: it calls Wake, through once, after Open, when asked, and
// when the time comes that the last call named.
func (r *runner) wake(once func() (next int64)) {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	var next int64
	for r.Ask(); ; {
		select {
		case <-r.ended:
			return
		case <-r.asked:
			next = once()
		case <-timer.C:
			if r.clock() >= next { // else the clock is slower than the timer
				next = once()
			}
		}
		if next == 0 {
			timer.Stop()
		} else {
			timer.Reset(time.Duration(next - r.clock()))
		}
	}
}
