package conformance

import (
	"bytes"
	"errors"
	"slices"

	"github.com/netmatrix/netmatrix/core/transport"
)

// side is one session in memory: the calls it gets, whatever it is linked to.
type side struct {
	net     *Memory
	group   *memoryGroup
	session transport.Session
	link    link

	opened bool
	over   bool  // it returned an error, or had its End: only Close is left
	closed bool  // it had its Close
	cause  error // what Close is to say
	timer  int   // the number of the timer in force; those before are void
}

// link is what carries a side's bytes: a stream or a socket.
type link interface {
	send(out []byte) // out is lent
	finish()         // the session is over: send what is pending, then close
	abandon()        // the group is closed: close now
}

// join puts the side into its group and has it opened.
func (s *side) join() {
	s.group.sides = append(s.group.sides, s)
	s.net.timeline.at(s.net.Clock(), rankWire, s.open)
}

func (s *side) open() {
	if s.closed {
		return
	}
	s.opened = true
	s.call(s.session.Open)
	s.wake()
}

func (s *side) data(in []byte) {
	s.call(func(out []byte) ([]byte, error) { return s.session.Data(in, out) })
	scribble(in)
}

// end is the peer's end; the session is over with it.
func (s *side) end() {
	s.call(func(out []byte) ([]byte, error) {
		out, err := s.session.End(out)
		if err == nil {
			err = transport.ErrDone
		}
		return out, err
	})
}

func (s *side) wake() {
	w, ok := s.session.(transport.Waker)
	if !ok || !s.opened || s.over {
		return
	}
	var next int64
	s.call(func(out []byte) (o []byte, err error) {
		o, next, err = w.Wake(out)
		return o, err
	})
	s.timer++
	if next == 0 || s.over {
		return
	}
	// A clock goes on between two calls, if only by a nanosecond: a session
	// that is always due must not stop time for all others.
	timer := s.timer
	s.net.timeline.at(max(next, s.net.Clock()+1), rankWire, func() {
		if s.timer == timer {
			s.wake()
		}
	})
}

// call makes one call of the session and sends what it returns.
func (s *side) call(f func(out []byte) ([]byte, error)) {
	out := s.net.lend()
	held := append([]byte(nil), out...)
	got, err := f(out)
	if !bytes.HasPrefix(got, held) {
		s.net.fault("a session returned %q, which does not begin with what out already held: %q", got[:min(len(got), 64)], held)
		return
	}
	s.link.send(got[len(held):])
	if len(held) == 0 && cap(got) > cap(s.net.scratch) {
		s.net.scratch = make([]byte, 0, cap(got)) // not got itself, which may be a slice of in
	}
	scribble(got)
	if err != nil && !s.over {
		s.over = true
		if !errors.Is(err, transport.ErrDone) {
			s.cause = err
		}
		s.link.finish()
	}
}

// close gives the session its Close; false: it has had it.
func (s *side) close() bool {
	if s.closed {
		return false
	}
	s.closed, s.over = true, true
	s.group.sides = slices.DeleteFunc(s.group.sides, func(o *side) bool { return o == s })
	s.session.Close(s.cause)
	return true
}

// fail notes why the conversation broke, unless it had ended before.
func (s *side) fail(err error) {
	if !s.over {
		s.cause = err
	}
}
