package stdnet

import "time"

// ask has Wake called soon. From any goroutine.
func (c *conn) ask() {
	select {
	case c.asked <- struct{}{}:
	default: // it is asked for already
	}
}

// wake is the wake pump: it calls Wake after Open, when asked, and when the
// time comes that the last call named.
func (c *conn) wake() {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	var next int64
	for c.ask(); ; {
		select {
		case <-c.ended:
			return
		case <-c.asked:
			next = c.wakeOnce()
		case <-timer.C:
			if c.clock() >= next { // else the clock is slower than the timer
				next = c.wakeOnce()
			}
		}
		if next == 0 {
			timer.Stop()
		} else {
			timer.Reset(time.Duration(next - c.clock()))
		}
	}
}

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
