package rawpoll

import (
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

const (
	// acceptsPerTurn bounds a turn, so that a flood of connections does not
	// starve those that are there.
	acceptsPerTurn = 64
	// acceptPause is how long accepting rests when descriptors have run out.
	acceptPause = int64(50 * time.Millisecond)
)

// listener accepts for all loops of its group and deals the connections out in
// turn: a hash of the kernel's would give 16 connections an uneven share.
type listener struct {
	handle
	session  func() transport.Session
	accepted int
	unread   bool // connections may be waiting
}

func newListener(g *group, fd int, session func() transport.Session) *listener {
	l := &listener{session: session}
	l.handle = handle{source: l, group: g, loop: g.loops[0], fd: fd}
	l.timer.owner = &l.handle
	return l
}

// start puts the listener under watch. After an error the socket is the
// caller's again.
func (l *listener) start() error {
	l.group.open.Add(1)
	err := l.register()
	if err != nil {
		l.group.open.Done()
	}
	return err
}

func (l *listener) turn(_ *buffers, s signal) (again bool) {
	if l.closed {
		return false
	}
	if s&shut != 0 {
		l.release()
		l.group.open.Done()
		return false
	}
	l.unread = l.unread || s&(readable|expired) != 0
	for range acceptsPerTurn {
		if !l.unread {
			break
		}
		l.accept()
	}
	return l.unread
}

func (l *listener) accept() {
	fd, peer, err := acceptSocket(l.fd)
	switch err {
	case nil:
		_ = noDelay(fd) // a peer that is gone already will show when read
		home := l.group.loops[l.accepted%len(l.group.loops)]
		l.accepted++
		session := l.session()
		if err := newConn(l.group, home, socket{fd: fd, peer: addrPort(peer)}, session, false).start(); err != nil {
			closeSocket(fd)
			session.Close(err)
		}
	case unix.EINTR, unix.ECONNABORTED, unix.EPROTO:
		// One connection failed before it was ours; the next may be well.
	case unix.EAGAIN:
		l.unread = false
	default:
		// Descriptors or memory have run out. The waiting connections stay
		// ready for ever, so look again later instead of at once.
		l.unread = false
		l.loop.schedule(&l.handle, l.loop.clock()+acceptPause)
	}
}
