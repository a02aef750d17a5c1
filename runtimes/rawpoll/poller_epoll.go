//go:build linux

package rawpoll

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sharedModel  = "one epoll descriptor for N threads, edge-triggered; an edge that comes while another thread has the connection is left to that one; one udp socket"
	shardedModel = "N epoll descriptors with a thread each, edge-triggered, connections dealt out in turn; a udp socket each"

	// anything is watched for all along: an edge costs nothing while nothing
	// happens, and no call is spent on changing the interest.
	anything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
)

// poller is one epoll descriptor, with an eventfd to wake who sleeps in it.
type poller struct {
	fd    int
	bell  int
	nanos bool // the kernel has epoll_pwait2
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	p := &poller{fd: fd, bell: bell}
	// Edge-triggered, the eventfd never needs to be read, and one thread wakes.
	err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, bell, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(bell)})
	if err != nil {
		p.close()
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	var none [1]event
	_, errno := p.pwait2(none[:], 0)
	p.nanos = errno == 0
	return p, nil
}

func (p *poller) close() {
	unix.Close(p.bell)
	unix.Close(p.fd)
}

// wake ends the sleep of one thread, or its next one.
func (p *poller) wake() {
	one := uint64(1)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(p.bell), uintptr(unsafe.Pointer(&one)), unsafe.Sizeof(one))
}

// add makes fd known, without an event before watch.
func (p *poller) add(fd int, gen int32) error {
	e := unix.EpollEvent{Events: unix.EPOLLONESHOT, Fd: int32(fd), Pad: gen}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("watch descriptor %d: %w", fd, err)
	}
	return nil
}

// watch reports every change of fd from now on, beginning with what is so now.
// It cannot fail for a descriptor that was added and is open.
func (p *poller) watch(fd int, gen int32) { p.watchOutput(fd, gen, true) }

// watchOutput says whether room for output is reported besides input, again
// beginning with what is so now.
//
// A stream may be watched for both all along. A datagram socket has room again
// whenever a datagram has left it, so that each one sent would cost an event.
func (p *poller) watchOutput(fd int, gen int32, on bool) {
	events := uint32(anything)
	if !on {
		events &^= unix.EPOLLOUT
	}
	_ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd), Pad: gen})
}

// poll takes what is there. It never blocks, so the scheduler need not know.
func (p *poller) poll(events []event) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wait sleeps until something is there, for nanos at most; -1: without end.
func (p *poller) wait(events []event, nanos int64) (n int) {
	var errno unix.Errno
	switch {
	case nanos >= 0 && p.nanos:
		n, errno = p.pwait2(events, nanos)
	case nanos >= 0:
		const ms = int64(time.Millisecond)
		n, errno = p.pwait(events, int(min((nanos+ms-1)/ms, 1<<30)))
	default:
		n, errno = p.pwait(events, -1)
	}
	if errno != 0 {
		return 0 // interrupted
	}
	return n
}

func (p *poller) pwait(events []event, ms int) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(ms), 0, 0)
	return int(n), errno
}

func (p *poller) pwait2(events []event, nanos int64) (int, unix.Errno) {
	punctual()
	// The kernel's own 64-bit timespec on every architecture.
	timeout := struct{ sec, nsec int64 }{nanos / 1e9, nanos % 1e9}
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&timeout)), 0, 0)
	return int(n), errno
}

// punctual asks the kernel to end the timed sleeps of this thread without delay:
// by default it gathers those that end within 50 µs. The goroutine may be on
// another thread each time, so it says so each time, for 0.1 µs.
func punctual() { unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0) }

// event is what epoll reports of one descriptor.
type event = unix.EpollEvent

// target is the handle that e is meant for, if it still holds the descriptor.
func (l *loop) target(e *event) *handle {
	if h := l.handles.get(int(e.Fd)); h != nil && h.gen == e.Pad {
		return h
	}
	return nil // it was closed after the kernel had reported it, or e is the bell
}

// signals translates e.
func signals(e *event) (s signal) {
	if e.Events&unix.EPOLLIN != 0 {
		s |= readable
	}
	if e.Events&unix.EPOLLOUT != 0 {
		s |= writable
	}
	if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s |= readable | hungUp
	}
	return s
}
