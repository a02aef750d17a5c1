package coroutine

import "time"

// A Waker is woken by its own goroutine, so that its session needs no lock.
// That goroutine spends its time in Read; a read deadline gets it out, when
// the next Wake is due or, set to long ago, when somebody asks for one.

// longAgo makes Read return at once.
var longAgo = time.Unix(1, 0)

// leastWait is the shortest way to a deadline: Read refuses one that has passed
// before it looks for input, so a session that is always late would get none.
const leastWait = time.Microsecond

// Ask has Wake called soon. From any goroutine.
func (c *conn) Ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waker != nil && !c.deaf {
		c.asked.Store(true)
		c.line.SetReadDeadline(longAgo)
	}
}

// hush keeps Ask from the read deadline: once it has returned, none is at it.
func (c *conn) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = true
}

// wake calls Wake if it is due, and sets the deadline that the next one needs.
// It reports whether the conversation goes on.
func (c *conn) wake() bool {
	if c.asked.Swap(false) || c.next != 0 && c.clock() >= c.next {
		out, next, err := c.waker.Wake(c.out[:0])
		c.next = next
		if !c.step(out, err) {
			return false
		}
	}
	c.line.SetReadDeadline(c.deadline())
	if c.asked.Load() {
		// Who asked may have set its deadline before ours replaced it.
		c.line.SetReadDeadline(longAgo)
	}
	return true
}

func (c *conn) deadline() time.Time {
	if c.next == 0 {
		return time.Time{}
	}
	wait := time.Duration(c.next - c.clock())
	return time.Now().Add(max(wait, leastWait))
}
