package netpoll

import "time"

// Ask has Wake called soon. From any goroutine.
func (c *conn) Ask() {
	select {
	case c.asked <- struct{}{}:
	default: // it is asked for already
	}
}

// keep waits for the end of the connection and sees to it. Until then it calls
// Wake after Open, when asked, and when the time comes that the last call named.
func (c *conn) keep() {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	var next int64
	for c.Ask(); ; {
		select {
		case <-c.gone:
			c.hungUp()
			return
		case <-c.ended:
			c.linger()
			return
		case <-c.asked:
			next = c.wake()
		case <-timer.C:
			if c.clock() >= next { // else the clock is slower than the timer
				next = c.wake()
			}
		}
		if next == 0 {
			timer.Stop()
		} else {
			timer.Reset(time.Duration(next - c.clock()))
		}
	}
}

func (c *conn) wake() (next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waker == nil || c.over {
		return 0
	}
	out, next, err := c.waker.Wake(c.out[:0])
	c.take(out, nil, err)
	return next
}
