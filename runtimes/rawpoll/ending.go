package rawpoll

import (
	"errors"
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// linger is how long the peer is still listened to after our end was shut.
// Closing at once could reset the connection under the last bytes we sent.
const linger = int64(time.Second)

// lose gives up sending: the peer is gone. What it has sent before is still
// handed over; the end shows in a later read.
func (c *conn) lose(errno unix.Errno) {
	if c.err == nil {
		c.err = fmt.Errorf("write to %s: %w", c.peer, errno)
	}
	c.outbox.clear()
	c.unread, c.last = true, true
	c.shutdown()
}

// end acts on the end of input.
func (c *conn) end(b *buffers) {
	c.ended, c.unread = true, false
	if c.over {
		c.shutdown()
		return
	}
	out, err := c.session.End(b.out[:0])
	if err == nil {
		err = transport.ErrDone
	}
	c.answer(b, out, err)
}

// finish is what follows the session's last word: the rest is sent, then the
// side is shut, then the peer may have the linger time to end too.
func (c *conn) finish(err error) {
	c.over = true
	if c.err == nil && !errors.Is(err, transport.ErrDone) {
		c.err = err
	}
	c.loop.timers.stop(&c.timer)
	c.shutdown()
}

// shutdown moves a finished connection on, as far as it can now.
func (c *conn) shutdown() {
	if !c.over || !c.outbox.empty() {
		return
	}
	if c.ended {
		c.close(nil)
		return
	}
	if !c.shut {
		c.shut = true
		_ = unix.Shutdown(c.fd, unix.SHUT_WR) // an error shows in the next read
		c.timer.busy = false
		c.loop.schedule(&c.handle, c.loop.clock()+linger)
	}
}

// close ends the connection. err counts if nothing was wrong before, and not
// once our side was shut in good order: how the peer leaves is its affair.
func (c *conn) close(err error) {
	if c.err == nil && !c.shut {
		c.err = err
	}
	c.leave()
}
