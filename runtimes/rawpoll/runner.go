package rawpoll

import (
	"github.com/netmatrix/netmatrix/core/transport"
)

// runner is what running a session takes whatever the socket is: its place on a
// loop, its turns, and when it wants to be woken. Streams and datagrams build
// on it.
type runner struct {
	handle
	session transport.Session
	waker   transport.Waker // the session, if it is one
	due     int64           // when Wake is due on the group's clock; 0: not

	opened bool
	over   bool  // the session has said or seen the end; it is only closed now
	err    error // what Close will tell
}

func (r *runner) init(src source, g *group, home *loop, fd int, s transport.Session) {
	r.session = s
	r.waker, _ = s.(transport.Waker)
	r.handle = handle{source: src, group: g, loop: home, fd: fd}
	r.timer = timer{owner: &r.handle, busy: g.busy}
	if g.routines {
		r.routine = make(routine, 1)
	}
}

// start puts the socket under watch. A new socket has room for output, so the
// first event comes at once, on the right thread, and opens the session. After
// an error socket and session are the caller's again.
func (r *runner) start() error {
	g := r.group
	g.live.Add(1)
	g.open.Add(1)
	if err := r.register(); err != nil {
		g.live.Add(-1)
		g.open.Done()
		return err
	}
	if r.routine != nil {
		go r.run()
	}
	if g.closing.Load() { // it may have been missed by Group.Close
		r.loop.post(func(t *thread) { t.tell(&r.handle, shut) })
	}
	return nil
}

// wake calls Wake and arms the timer for the next time.
func (r *runner) wake(out []byte) ([]byte, error) {
	out, next, err := r.waker.Wake(out)
	r.due = next
	if next != 0 && err == nil {
		r.loop.schedule(&r.handle, r.loop.clock()+max(next-r.group.clock(), 0))
	} else {
		r.loop.timers.stop(&r.timer)
	}
	return out, err
}

// wakeDue reports whether s calls for Wake: somebody asked, or its time has come.
func (r *runner) wakeDue(s signal) bool {
	if r.over || r.waker == nil {
		return false
	}
	if s&woken != 0 {
		return true
	}
	if s&expired == 0 || r.due == 0 || r.loop.timers.armed(&r.timer) {
		return false // a call of Wake came between
	}
	early := r.due - r.group.clock()
	if early > 0 { // the group's clock runs behind the loop's
		r.loop.schedule(&r.handle, r.loop.clock()+early)
	}
	return early <= 0
}

// leave gives back the socket and tells the session that it is over.
func (r *runner) leave() {
	r.release()
	r.session.Close(r.err)
	r.group.live.Add(-1)
	if r.routine == nil {
		r.group.open.Done()
	}
}
