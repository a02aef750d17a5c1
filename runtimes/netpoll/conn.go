package netpoll

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cloudwego/netpoll"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// lingerTime is how long input is dropped after the sending side was shut.
const lingerTime = time.Second

// conn is one connection. Input comes from a poller or from a reader goroutine;
// all else that happens to it is for its keeper, the goroutine of run.
type conn struct {
	session transport.Session
	waker   transport.Waker // nil: the session is none
	clock   func() int64
	reader  bool          // goroutine execution
	dialled bool          // reads on, whatever output is pending
	asked   chan struct{} // holds one: Wake is due at once
	ended   chan struct{} // closed when over is set
	gone    chan struct{} // closed when the library has let go of the socket
	sender  *sender
	cutOff  atomic.Bool // the group was closed

	lib netpoll.Connection

	mu    sync.Mutex
	out   []byte // lent to the session for its output
	over  bool   // the session is not called any more, but for Close
	err   error  // what Close will say
	reset bool   // the peer went without an end of its stream
}

var _ sockets.Member = (*conn)(nil)

func newConn(cfg transport.Config, socket *net.TCPConn, s transport.Session, dialled bool) *conn {
	c := &conn{
		session: s,
		clock:   cfg.Clock,
		reader:  cfg.Execution == "goroutine",
		dialled: dialled,
		asked:   make(chan struct{}, 1),
		ended:   make(chan struct{}),
		gone:    make(chan struct{}),
	}
	c.waker, _ = s.(transport.Waker)
	c.sender, c.err = newSender(socket)
	return c
}

// Cut ends the connection from outside.
func (c *conn) Cut() {
	c.cutOff.Store(true)
	c.sender.cut()
}

// Run is the keeper: it opens the session, wakes it and ends the connection.
func (c *conn) Run() {
	if c.err == nil {
		c.lib, c.err = netpoll.NewFDConnection(c.sender.fd)
	}
	if c.err == nil {
		c.talk()
	}
	c.session.Close(c.err)
}

func (c *conn) talk() {
	c.lib.AddCloseCallback(c.left)
	c.mu.Lock()
	out, err := c.session.Open(nil)
	c.take(out, nil, err)
	c.mu.Unlock()

	var reader sync.WaitGroup
	if c.reader {
		reader.Go(c.read)
	} else {
		c.lib.SetOnRequest(c.onRequest)
		if !c.lib.IsActive() { // it hung up while nobody listened to that
			c.lib.Close()
		}
	}
	c.keep()
	reader.Wait()
	c.err = cmp.Or(c.err, c.sender.finish())
}

// onRequest is called on the poller with input to take, all of it: whatever is
// left would be reported again at once.
func (c *conn) onRequest(context.Context, netpoll.Connection) error {
	c.receive()
	return nil
}

// read is the goroutine of goroutine execution. Output that cannot be sent
// makes it wait, but for a dialled end.
func (c *conn) read() {
	r := c.lib.Reader()
	for {
		_, err := r.Peek(1)
		if err != nil && r.Len() == 0 {
			break
		}
		c.receive()
		if !c.dialled {
			c.sender.wait()
		}
	}
	c.lib.Close()
}

// receive hands all that has arrived to the session, or drops it.
func (c *conn) receive() {
	r := c.lib.Reader()
	in, err := r.Next(r.Len())
	c.mu.Lock()
	if err == nil && !c.over {
		out, err := c.session.Data(in, c.out[:0])
		c.take(out, in, err)
	}
	c.mu.Unlock()
	r.Release()
}

// left is called by the library before it closes the socket. It always comes
// of a hang-up, the peer's or ours: were Close called in the middle of a
// connection's life, the library might close without telling its poller, which
// would then go on with a socket that sender still holds open.
func (c *conn) left(netpoll.Connection) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset = c.sender.leave(!c.over)
	close(c.gone)
	return nil
}

// take does what a call of the session with in asks for. With the lock held.
func (c *conn) take(out, in []byte, err error) {
	if len(out) > 0 {
		if sendErr := c.sender.send(out); err == nil || errors.Is(err, transport.ErrDone) {
			err = cmp.Or(sendErr, err)
		}
		if !sockets.Overlap(out, in) {
			c.out = out // it may have grown
		}
	}
	if err != nil {
		c.end(err)
	}
}

// end is the end of the session. With the lock held.
func (c *conn) end(err error) {
	c.over = true
	if !errors.Is(err, transport.ErrDone) {
		c.err = err
	}
	close(c.ended)
}

// hungUp ends the session after the library has let go of the socket.
func (c *conn) hungUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
	case c.cutOff.Load():
		c.end(net.ErrClosed)
	case c.reset:
		c.end(os.NewSyscallError("read", syscall.ECONNRESET))
	default:
		out, err := c.session.End(c.out[:0])
		c.take(out, nil, cmp.Or(err, transport.ErrDone))
	}
}

// linger shuts the sending side once all is sent, and leaves the peer a second
// to stop as well: closing with input unread would reset the connection and
// take the last answer with it.
func (c *conn) linger() {
	c.sender.wait()
	c.sender.shut()
	timer := time.NewTimer(lingerTime)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
		c.sender.hangUp()
		<-c.gone
	}
}
