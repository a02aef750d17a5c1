package rawpoll

import (
	"runtime"
	"sync"
)

// routine is where the goroutine of a session parks. A thread that has taken
// the session's baton hands it over together with the signals. There is one
// baton, so there is room for it and no thread ever waits here.
type routine chan signal

// scratch lends buffers to goroutines for their turns. What runs on one P, one
// after the other, gets the same ones, as on a thread.
var scratch = sync.Pool{New: func() any { return new(buffers) }}

// run is the goroutine of a session: it takes the turns itself, and parks
// when nothing is left to do.
func (r *runner) run() {
	defer r.group.open.Done()
	for !r.closed {
		s := <-r.routine
		b := scratch.Get().(*buffers)
		for {
			again := r.source.turn(b, s)
			if !again && r.baton.give() {
				break
			}
			if again {
				runtime.Gosched() // a flood on one connection must not starve the others
			}
			s = r.baton.left()
		}
		scratch.Put(b)
	}
}
