//go:build darwin || freebsd

package rawpoll

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	sharedModel  = "one kqueue for N threads, edge-triggered (EV_CLEAR); an edge that comes while another thread has the connection is left to that one; one udp socket"
	shardedModel = "N kqueues with a thread each, edge-triggered (EV_CLEAR), connections dealt out in turn; a udp socket each"

	bell = 0 // identifier of the user event that wakes
)

// poller is one kqueue, with a user event to wake who sleeps in it.
type poller struct {
	fd int
}

func newPoller() (*poller, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("create kqueue: %w", err)
	}
	unix.CloseOnExec(fd)
	p := &poller{fd: fd}
	if err := p.change(unix.Kevent_t{Ident: bell, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watch user event: %w", err)
	}
	return p, nil
}

func (p *poller) close() { unix.Close(p.fd) }

// wake ends the sleep of one thread, or its next one.
func (p *poller) wake() {
	_ = p.change(unix.Kevent_t{Ident: bell, Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER})
}

// add makes fd known, without an event before watch.
func (p *poller) add(fd int, _ int32) error {
	if err := p.filters(fd, unix.EV_ADD|unix.EV_CLEAR|unix.EV_DISABLE); err != nil {
		return fmt.Errorf("watch descriptor %d: %w", fd, err)
	}
	return nil
}

// watch reports every change of fd from now on, beginning with what is so now.
// It cannot fail for a descriptor that was added and is open.
func (p *poller) watch(fd int, _ int32) { _ = p.filters(fd, unix.EV_ENABLE) }

// watchOutput says whether room for output is reported besides input, again
// beginning with what is so now.
func (p *poller) watchOutput(fd int, _ int32, on bool) {
	flags := unix.EV_DISABLE
	if on {
		flags = unix.EV_ENABLE
	}
	var change unix.Kevent_t
	unix.SetKevent(&change, fd, unix.EVFILT_WRITE, flags)
	_ = p.change(change)
}

// filters changes what is reported of input and of output.
func (p *poller) filters(fd, flags int) error {
	var changes [2]unix.Kevent_t
	unix.SetKevent(&changes[0], fd, unix.EVFILT_READ, flags)
	unix.SetKevent(&changes[1], fd, unix.EVFILT_WRITE, flags)
	return p.change(changes[:]...)
}

// change submits changes at once: what waits for the next poll would never be
// seen by a thread that already sleeps.
func (p *poller) change(changes ...unix.Kevent_t) error {
	_, err := unix.Kevent(p.fd, changes, nil, nil)
	return err
}

// poll takes what is there.
func (p *poller) poll(events []event) int { return p.wait(events, 0) }

// wait sleeps until something is there, for nanos at most; -1: without end.
func (p *poller) wait(events []event, nanos int64) int {
	var timeout *unix.Timespec
	if nanos >= 0 {
		ts := unix.NsecToTimespec(nanos)
		timeout = &ts
	}
	n, err := unix.Kevent(p.fd, nil, events, timeout)
	if err != nil {
		return 0 // interrupted
	}
	return n
}

// event is what kqueue reports of one filter of one descriptor.
type event = unix.Kevent_t

// target is the handle that e is meant for. A kqueue event carries no
// generation. One that is stale after all is harmless: it costs a read or a
// write that finds nothing to do.
func (l *loop) target(e *event) *handle {
	if e.Filter == unix.EVFILT_USER {
		return nil
	}
	return l.handles.get(int(e.Ident))
}

// signals translates e. EV_EOF of the read filter comes with the last bytes and
// does not mean that they have been read.
func signals(e *event) (s signal) {
	switch e.Filter {
	case unix.EVFILT_READ:
		s = readable
	case unix.EVFILT_WRITE:
		s = writable
	}
	if e.Flags&unix.EV_EOF != 0 {
		s |= readable | hungUp
	}
	return s
}
