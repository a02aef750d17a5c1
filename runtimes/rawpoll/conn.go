package rawpoll

import (
	"fmt"
	"net/netip"
	"unsafe"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// conn runs one session over one connected socket. It is written once for all
// models and executions: a turn on a thread or on a goroutine of its own is the
// same straight line of read, call, write.
//
// Two edges have to be remembered, since the poller tells of each only once:
// unread says that the socket may hold input, and a full outbox waits to be
// told that the socket has room.
type conn struct {
	handle
	session transport.Session
	waker   transport.Waker // the session, if it is one
	peer    netip.AddrPort
	dialled bool

	outbox outbox
	unread bool  // the socket may hold input
	last   bool  // the peer's last byte has arrived: read on until the end shows
	due    int64 // when Wake is due on the group's clock; 0: not

	opened bool
	over   bool  // the session has said or seen the end; it is only closed now
	ended  bool  // the peer sends no more
	shut   bool  // our side of the socket is shut
	err    error // what Close will tell
}

func newConn(g *group, home *loop, fd int, peer netip.AddrPort, s transport.Session, dialled bool) *conn {
	c := &conn{session: s, peer: peer, dialled: dialled}
	c.waker, _ = s.(transport.Waker)
	c.handle = handle{source: c, group: g, loop: home, fd: fd}
	c.timer = timer{owner: &c.handle, busy: g.busy}
	if g.routines {
		c.routine = make(routine, 1)
	}
	return c
}

// start puts the connection under watch. A connected socket has room for
// output, so the first event comes at once, on the right thread, and opens the
// session. After an error socket and session are the caller's again.
func (c *conn) start() error {
	g := c.group
	g.live.Add(1)
	g.open.Add(1)
	if err := c.register(); err != nil {
		g.live.Add(-1)
		g.open.Done()
		return err
	}
	if c.routine != nil {
		go c.run()
	}
	if g.closing.Load() { // it may have been missed by Group.Close
		c.loop.post(func(t *thread) { t.tell(&c.handle, shut) })
	}
	return nil
}

func (c *conn) turn(b *buffers, s signal) (again bool) {
	if c.closed {
		return false
	}
	if s&shut != 0 {
		c.close(errGroupClosed)
		return false
	}
	if s&readable != 0 {
		c.unread = true
		c.last = c.last || s&hungUp != 0
	}
	if s&writable != 0 && !c.outbox.empty() {
		c.flush()
	}
	if !c.opened {
		c.opened = true
		c.open(b)
	} else if s&(woken|expired) != 0 {
		c.alarm(b, s)
	}
	if c.unread && c.reading() {
		c.read(b)
	}
	return c.unread && c.reading()
}

// reading reports whether input is taken now: not behind pending output, unless
// this end has to read on so that two full directions cannot lock each other.
func (c *conn) reading() bool {
	return !c.closed && !c.ended && (c.dialled || c.over || c.outbox.empty())
}

// read takes one buffer full, which is also a connection's share of a turn.
func (c *conn) read(b *buffers) {
	in := b.input(c.group.readBytes)
	n, errno := receive(c.fd, in)
	switch {
	case n > 0:
		// A short read has emptied the socket, but does not show the end.
		c.unread = n == len(in) || c.last
		if !c.over {
			out, err := c.session.Data(in[:n], b.out[:0])
			c.answer(b, out, err)
		}
	case errno == 0:
		c.end(b)
	case errno == unix.EAGAIN:
		c.unread = false
	case errno == unix.EINTR:
	default:
		c.close(fmt.Errorf("read from %s: %w", c.peer, errno))
	}
}

// answer sends what a call has appended and acts on its error.
func (c *conn) answer(b *buffers, out []byte, err error) {
	if len(out) > 0 {
		c.send(out)
	}
	if cap(out) > cap(b.out) && !within(out, b.in) {
		b.out = out[:0] // it has grown
	}
	if err != nil {
		c.finish(err)
	}
}

// within reports whether b starts inside the space of outer.
func within(b, outer []byte) bool {
	at, start := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(outer)))
	return at >= start && at < start+uintptr(cap(outer))
}

func (c *conn) open(b *buffers) {
	out, err := c.session.Open(b.out[:0])
	if err == nil && c.waker != nil {
		out, err = c.wake(out)
	}
	c.answer(b, out, err)
}

// wake calls Wake and arms the timer for the next time.
func (c *conn) wake(out []byte) ([]byte, error) {
	out, next, err := c.waker.Wake(out)
	c.due = next
	if next != 0 && err == nil {
		c.loop.schedule(&c.handle, c.loop.clock()+max(next-c.group.clock(), 0))
	} else {
		c.loop.timers.stop(&c.timer)
	}
	return out, err
}

// alarm acts on Group.Wake and on the timer.
func (c *conn) alarm(b *buffers, s signal) {
	if s&expired != 0 && !c.loop.timers.armed(&c.timer) {
		switch early := c.due - c.group.clock(); {
		case c.shut:
			c.close(nil)
			return
		case c.over || c.due == 0: // a call of Wake came between
		case early > 0: // the group's clock runs behind the loop's
			c.loop.schedule(&c.handle, c.loop.clock()+early)
		default:
			s |= woken
		}
	}
	if s&woken != 0 && !c.over && c.waker != nil {
		out, err := c.wake(b.out[:0])
		c.answer(b, out, err)
	}
}

// send writes out, or keeps what the socket does not take.
func (c *conn) send(out []byte) {
	if c.err != nil {
		return // lost before
	}
	if c.outbox.empty() {
		n, errno := send(c.fd, out)
		if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
			c.lose(errno)
			return
		}
		out = out[n:]
	}
	if len(out) > 0 {
		c.outbox.add(out)
	}
}

// flush sends more of the outbox, now that there is room.
func (c *conn) flush() {
	n, errno := send(c.fd, c.outbox.rest())
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
		c.lose(errno)
		return
	}
	c.outbox.took(n)
	c.shutdown()
}
