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
	"unsafe"

	"github.com/netmatrix/netmatrix/core/transport"
)

// lingerTime is how long input is dropped after the sending side was shut.
const lingerTime = time.Second

// conn is one connection. All but ask and cut is for its own goroutine alone.
type conn struct {
	socket  *net.TCPConn
	session transport.Session
	sender  *sender // nil: accepted, writes wait for the network
	clock   func() int64

	in  []byte // read into
	out []byte // lent to the session for its output
	err error  // what the session is told in Close

	waker transport.Waker // nil: the session is none
	next  int64           // when Wake is due; 0: only when asked
	asked atomic.Bool     // Wake is due at once

	mu   sync.Mutex // of ask
	deaf bool       // the conversation is over, and the deadline not for ask to set
}

func newConn(g *group, socket *net.TCPConn, s transport.Session, dialled bool) *conn {
	c := &conn{socket: socket, session: s, clock: g.config.Clock, in: make([]byte, g.config.ReadBuffer)}
	if dialled {
		c.sender = newSender(socket)
	}
	c.waker, _ = s.(transport.Waker)
	c.asked.Store(c.waker != nil) // Wake follows Open
	return c
}

// cut ends the connection from outside.
func (c *conn) cut() { c.socket.Close() }

// run is the goroutine of the connection.
func (c *conn) run() {
	c.talk()
	c.socket.Close()
	if c.sender != nil {
		if err := c.sender.wait(); c.err == nil || errors.Is(c.err, net.ErrClosed) {
			c.err = cmp.Or(err, c.err) // a sender that fails closes the socket
		}
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
		n, err := c.socket.Read(c.in)
		switch {
		case n > 0:
			if !c.step(c.session.Data(c.in[:n], c.out[:0])) {
				return
			}
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
		sendErr = c.send(out)
		if !overlap(out, c.in) {
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
		c.linger()
	}
	return false
}

func (c *conn) send(out []byte) error {
	if c.sender != nil {
		return c.sender.send(out)
	}
	_, err := c.socket.Write(out)
	return err
}

// linger shuts the sending side once all is sent, and drops what still arrives
// for a second, so that closing with input unread cannot reset the connection
// and take the last answer with it.
func (c *conn) linger() {
	c.hush()
	shut := func() {
		c.socket.CloseWrite()
		c.socket.SetReadDeadline(time.Now().Add(lingerTime))
	}
	var last sync.WaitGroup
	if c.sender == nil {
		shut()
	} else { // read on while output is pending, or the peer may not read either
		c.socket.SetReadDeadline(time.Time{})
		last.Go(func() { c.sender.wait(); shut() })
	}
	io.Copy(io.Discard, c.socket)
	last.Wait()
}

// overlap reports whether a and b share memory: a session may answer with a
// slice of its input, which must not become its next output buffer.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&a[0])) <= uintptr(unsafe.Pointer(&b[len(b)-1])) &&
		uintptr(unsafe.Pointer(&b[0])) <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}
