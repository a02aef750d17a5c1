package conformance_test

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// referenceConn is one connection: a goroutine that reads, one that writes,
// and one that wakes, with a lock around every call of the session.
type referenceConn struct {
	group   *referenceGroup
	faults  *faults
	session transport.Session
	stream  *net.TCPConn // or
	socket  *net.UDPConn

	mu      sync.Mutex
	changed sync.Cond
	pending []byte
	writing bool
	opened  bool
	over    bool  // the session ended or the connection broke
	broken  bool  // nothing can be sent any more
	cause   error // what Close is to say
	from    net.Addr
	refused time.Time // when the first refusal came since the last datagram
	timer   *time.Timer
	next    int64
	asked   atomic.Bool // a Wake that was asked for has yet to come
	lent    []byte      // the next call's output buffer
}

func (c *referenceConn) conn() net.Conn {
	if c.stream != nil {
		return c.stream
	}
	return c.socket
}

func (c *referenceConn) run() {
	var writer sync.WaitGroup
	if c.stream != nil {
		writer.Go(c.write)
	}
	c.mu.Lock()
	if !c.over {
		c.opened = true
		c.returned(c.session.Open(nil))
	}
	c.mu.Unlock()
	c.wake()
	c.read()
	writer.Wait()
	c.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.next = 0
	cause := c.cause
	c.mu.Unlock()
	c.conn().Close()
	if c.faults.hidesErrors {
		cause = nil
	}
	c.session.Close(cause)
	if c.faults.closesTwice {
		c.session.Close(cause)
	}
	c.group.mu.Lock()
	delete(c.group.conns, c)
	c.group.mu.Unlock()
}

// returned takes what a call of the session returned. The lock is held.
func (c *referenceConn) returned(out []byte, err error) {
	if c.socket != nil {
		c.transmit(out)
	} else if c.faults.reusesBuffer && len(c.pending) == 0 {
		c.pending = out
	} else {
		c.pending = append(c.pending, out...)
	}
	if err != nil && !c.over {
		c.over = true
		if !errors.Is(err, transport.ErrDone) {
			c.cause = err
		}
		if c.faults.closesAtOnce {
			c.pending, c.broken = nil, true
			c.conn().Close()
		}
	}
	c.changed.Broadcast()
}

func (c *referenceConn) transmit(out []byte) {
	size := c.group.config.DatagramBytes
	if size <= 0 || c.faults.joins {
		size = max(1, len(out))
	}
	for len(out) > 0 {
		d := out[:min(size, len(out))]
		out = out[len(d):]
		switch {
		case c.group.dialled:
			c.socket.Write(d) // a refusal takes this one too; it is tried no second time
		case c.from != nil:
			c.socket.WriteTo(d, c.from)
		default:
			c.fail(errors.New("a datagram for nobody"))
			c.socket.Close()
		}
	}
}

func (c *referenceConn) abandon() {
	c.mu.Lock()
	if !c.over && !c.faults.hidesClosing {
		c.cause = net.ErrClosed
	}
	c.over, c.broken = true, true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.conn().Close()
}

// write sends what is pending and, once the session is over, the end.
func (c *referenceConn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.pending) == 0 && !c.over {
			c.changed.Wait()
		}
		if len(c.pending) == 0 || c.broken {
			break
		}
		b := c.pending
		c.pending, c.writing = nil, true
		if c.faults.hurries && c.group.dialled && c.over {
			c.stream.SetWriteDeadline(time.Now().Add(time.Millisecond))
		}
		c.mu.Unlock()
		_, err := c.stream.Write(b)
		c.mu.Lock()
		c.writing = false
		if err != nil {
			c.fail(err)
		}
		c.changed.Broadcast()
	}
	c.stream.CloseWrite()
	switch {
	case c.faults.neverLingers:
		c.stream.Close()
	case c.faults.lingersLong:
	default:
		c.stream.SetReadDeadline(time.Now().Add(time.Second))
	}
}

// fail notes that the connection broke. The lock is held.
func (c *referenceConn) fail(err error) {
	if !c.over {
		c.cause = err
	}
	c.over, c.broken = true, true
	c.changed.Broadcast()
}

func (c *referenceConn) read() {
	size := c.group.config.ReadBuffer
	if size <= 0 || c.socket != nil && !c.faults.cutsShort {
		size = 64 << 10
	}
	buf := make([]byte, size)
	for {
		n, from, err := c.receive(buf)
		c.mu.Lock()
		for c.faults.wakesFirst && c.next != 0 && c.next <= c.group.now() && !c.over {
			c.changed.Wait()
		}
		if n > 0 && !c.over && !(c.faults.losesTail && n < len(buf) && n%11 == 0) {
			c.from, c.refused = from, time.Time{}
			out, err := c.session.Data(buf[:n], c.lent)
			c.returned(out, err)
			if c.faults.lendsInput {
				c.lent = out[:0]
			}
			if c.faults.wakesOnData {
				c.mu.Unlock()
				c.wake()
				c.mu.Lock()
			}
		}
		if err != nil && !c.outlives(err) {
			c.ended(err)
			c.mu.Unlock()
			return
		}
		if c.socket != nil && c.over && !c.faults.staysOpen {
			c.mu.Unlock()
			return
		}
		pauses := !c.group.dialled && !c.faults.readsOn || c.group.dialled && c.faults.dialPauses
		for pauses && !c.faults.reusesBuffer && (len(c.pending) > 0 || c.writing) && !c.over {
			c.changed.Wait()
		}
		c.mu.Unlock()
	}
}

func (c *referenceConn) receive(buf []byte) (n int, from net.Addr, err error) {
	if c.stream != nil {
		n, err = c.stream.Read(buf)
		return n, nil, err
	}
	return c.socket.ReadFrom(buf)
}

// outlives reports whether err is a refusal that is not the end yet.
func (c *referenceConn) outlives(err error) bool {
	if c.socket == nil || !errors.Is(err, syscall.ECONNREFUSED) || c.faults.givesUp {
		return false
	}
	if c.refused.IsZero() {
		c.refused = time.Now()
	}
	return c.faults.neverGivesUp || time.Since(c.refused) < time.Second
}

// ended takes the peer's end, or an error, of reading. The lock is held.
func (c *referenceConn) ended(err error) {
	// A clean end comes to a listening end only when its output has gone.
	for !c.group.dialled && (len(c.pending) > 0 || c.writing) && !c.over {
		c.changed.Wait()
	}
	switch {
	case c.over:
	case err.Error() == "EOF" && !c.faults.swallowsEnd:
		out, err := c.session.End(nil)
		if err == nil {
			err = transport.ErrDone
		}
		c.returned(out, err)
	default:
		c.fail(err)
	}
}

func (c *referenceConn) wakeSoon() {
	if c.asked.CompareAndSwap(false, true) {
		go func() {
			c.asked.Store(false)
			c.wake()
		}()
	}
}

// wake calls a Waker and sets the time for the next call.
func (c *referenceConn) wake() {
	w, ok := c.session.(transport.Waker)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || !c.opened {
		return
	}
	if c.faults.unserialised {
		c.mu.Unlock()
		defer c.mu.Lock()
		w.Wake(nil)
		return
	}
	out, next, err := w.Wake(nil)
	c.returned(out, err)
	c.next = next
	if c.timer != nil && !c.faults.forgetsWake {
		c.timer.Stop()
	}
	if next == 0 || c.over {
		return
	}
	wait := time.Duration(next - c.group.now())
	if c.faults.wakesEarly {
		wait /= 2
	}
	c.timer = time.AfterFunc(wait, func() {
		c.mu.Lock()
		due := c.next == next || c.faults.forgetsWake
		c.mu.Unlock()
		if due {
			c.wake()
		}
	})
}
