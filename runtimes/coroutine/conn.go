package coroutine

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// line is what a conversation runs over: a stream or a datagram socket.
type line interface {
	// Read waits for input; 0 bytes without an error are none.
	Read(in []byte) (n int, err error)
	SetReadDeadline(time.Time) error
	Close() error
	// send sends out, or sees to it that it is sent.
	send(out []byte) error
	// linger follows the session's last word.
	linger()
	// wait returns once the line is closed and nothing is pending, and says why
	// something could not be sent.
	wait() error
}

// conn is one conversation. All but Ask and Cut is for its own goroutine alone.
type conn struct {
	line    line
	session transport.Session
	clock   func() int64

	in  []byte // read into
	out []byte // lent to the session for its output
	err error  // what the session is told in Close

	waker transport.Waker // nil: the session is none
	next  int64           // when Wake is due; 0: only when asked
	asked atomic.Bool     // Wake is due at once

	mu   sync.Mutex // of Ask
	deaf bool       // the conversation is over, and the deadline not for Ask to set
}

var _ sockets.Member = (*conn)(nil)

func newConn(cfg transport.Config, l line, s transport.Session) *conn {
	c := &conn{line: l, session: s, clock: cfg.Clock, in: make([]byte, cfg.ReadBuffer)}
	c.waker, _ = s.(transport.Waker)
	c.asked.Store(c.waker != nil) // Wake follows Open
	return c
}

// Cut ends the conversation from outside.
func (c *conn) Cut() { c.line.Close() }

// Run is the goroutine of the conversation.
func (c *conn) Run() {
	c.talk()
	c.line.Close()
	if err := c.line.wait(); c.err == nil || errors.Is(c.err, net.ErrClosed) {
		c.err = cmp.Or(err, c.err) // a line that cannot send is closed
	}
	c.session.Close(c.err)
}

// talk is the whole conversation.
func (c *conn) talk() {
	if !c.step(c.session.Open(nil)) {
		return
	}
	if c.waker != nil && !c.wake() {
		return
	}
	for {
		n, err := c.line.Read(c.in)
		switch {
		case n > 0:
			if !c.step(c.session.Data(c.in[:n], c.out[:0])) {
				return
			}
		case err == nil:
		case err == io.EOF:
			out, err := c.session.End(c.out[:0])
			c.step(out, cmp.Or(err, transport.ErrDone))
			return
		case c.waker != nil && errors.Is(err, os.ErrDeadlineExceeded):
			if !c.wake() {
				return
			}
		default:
			c.err = err
			return
		}
	}
}

// step does what one call of the session asks for: it sends out, and ends the
// conversation after an error. It reports whether the conversation goes on.
func (c *conn) step(out []byte, err error) bool {
	var sendErr error
	if len(out) > 0 {
		sendErr = c.line.send(out)
		if !sockets.Overlap(out, c.in) {
			c.out = out // it may have grown
		}
	}
	if err == nil && sendErr == nil {
		return true
	}
	if c.err = err; err == nil || errors.Is(err, transport.ErrDone) {
		c.err = sendErr
	}
	if sendErr == nil {
		c.hush()
		c.line.linger()
	}
	return false
}
