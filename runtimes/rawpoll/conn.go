package rawpoll

import (
	"fmt"
	"net/netip"
	"unsafe"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// conn runs one session over one connected stream. It is written once for all
// models and executions: a turn on a thread or on a goroutine of its own is the
// same straight line of read, call, write.
//
// Two edges have to be remembered, since the poller tells of each only once:
// unread says that the socket may hold input, and a full outbox waits to be
// told that the socket has room.
type conn struct {
	runner
	peer    netip.AddrPort
	dialled bool

	outbox outbox
	unread bool // the socket may hold input
	last   bool // the peer's last byte has arrived: read on until the end shows
	ended  bool // the peer sends no more
	shut   bool // our side of the socket is shut
}

func newConn(g *group, home *loop, sock socket, s transport.Session, dialled bool) *conn {
	c := &conn{peer: sock.peer, dialled: dialled}
	c.init(c, g, home, sock.fd, s)
	return c
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

// alarm acts on Group.Wake and on the timer, which at the end says that the
// peer has had its time.
func (c *conn) alarm(b *buffers, s signal) {
	if c.shut {
		if s&expired != 0 && !c.loop.timers.armed(&c.timer) {
			c.close(nil)
		}
		return
	}
	if c.wakeDue(s) {
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
