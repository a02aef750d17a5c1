package stdnet

import (
	"cmp"
	"io"
	"net"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// lingerTime is how long input is dropped after the sending side was shut.
const lingerTime = time.Second

// conn is one connection and its pumps. A session appends straight to the
// output that waits for the write pump, so one lock serves both: it guards that
// output and makes the session's calls serial.
type conn struct {
	runner
	socket  *net.TCPConn
	dialled bool   // reads on, whatever output is pending
	in      []byte // the read pump's

	pending []byte    // output that the write pump has not taken yet
	sending bool      // it waits for the network with what it has taken
	work    sync.Cond // for the write pump: pending or over has changed
	sent    sync.Cond // for the read pump: sending has ended
}

var _ sockets.Member = (*conn)(nil)

func newConn(cfg transport.Config, socket *net.TCPConn, s transport.Session, dialled bool) *conn {
	c := &conn{socket: socket, dialled: dialled, in: make([]byte, cfg.ReadBuffer)}
	c.init(cfg.Clock, s)
	c.work.L, c.sent.L = &c.mu, &c.mu
	return c
}

// Run is the goroutine of the connection, and the read pump.
func (c *conn) Run() {
	c.mu.Lock()
	c.take(c.session.Open(nil))
	c.mu.Unlock()
	var pumps sync.WaitGroup
	pumps.Go(c.send)
	if c.waker != nil {
		pumps.Go(func() { c.wake(c.wakeOnce) })
	}
	c.read()
	pumps.Wait()
	c.socket.Close()
	c.session.Close(c.err)
}

// Cut ends the connection from outside.
func (c *conn) Cut() { c.socket.Close() }

// read is the read pump. Once the session is over it drops what arrives, until
// the write pump has shut the connection and its deadline is reached.
func (c *conn) read() {
	for {
		n, err := c.socket.Read(c.in)
		c.mu.Lock()
		switch {
		case c.over:
		case n > 0:
			c.take(c.session.Data(c.in[:n], c.pending))
		case err == io.EOF:
			out, err := c.session.End(c.pending)
			c.take(out, cmp.Or(err, transport.ErrDone))
		default:
			c.fail(err)
		}
		for !c.dialled && (c.sending || len(c.pending) > 0) {
			c.sent.Wait()
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// send is the write pump. In the end it shuts the sending side, and leaves the
// peer some time to stop as well: closing with input unread would reset the
// connection and take the last answer with it.
func (c *conn) send() {
	var chunk []byte
	c.mu.Lock()
	for {
		for len(c.pending) == 0 && !c.over {
			c.work.Wait()
		}
		if len(c.pending) == 0 {
			break
		}
		chunk, c.pending = c.pending, chunk[:0]
		c.sending = true
		c.mu.Unlock()
		_, err := c.socket.Write(chunk)
		c.mu.Lock()
		c.sending = false
		if err != nil {
			c.fail(err)
		}
		c.sent.Signal()
	}
	c.mu.Unlock()
	c.socket.CloseWrite()
	c.socket.SetReadDeadline(time.Now().Add(lingerTime))
}

// wakeOnce makes one call of Wake, unless the session is over.
func (c *conn) wakeOnce() (next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return 0
	}
	out, next, err := c.waker.Wake(c.pending)
	c.take(out, err)
	return next
}

// take keeps what a call of the session returned. With the lock held.
func (c *conn) take(out []byte, err error) {
	if len(out) > 0 {
		if sockets.Overlap(out, c.in) { // an answer in place: nothing else was pending
			out = append(c.pending[:0], out...)
		}
		c.pending = out
		c.work.Signal()
	}
	if err != nil {
		c.end(err)
		c.work.Signal()
	}
}

// fail is the end of the connection: what is pending cannot be sent any more.
// With the lock held.
func (c *conn) fail(err error) {
	if !c.over {
		c.end(err)
		c.work.Signal()
	}
	c.err = cmp.Or(c.err, err)
	c.pending = nil
	c.socket.Close()
}
