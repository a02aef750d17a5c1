package load

import (
	"time"

	"github.com/netmatrix/netmatrix/core/hist"
)

// patience is how long a message waits for a place in the window, nanoseconds:
// as long as a histogram can tell. After that, or when its target's turn is
// over, it is given up and counted as unsent. A backlog takes no memory: it is
// how far the schedule is behind the clock.
const patience = hist.Highest

// TardyAfter is how late a load may send a message that had a place in the
// window, at a rate of messages a second over all clients: a tenth of the mean
// gap, and 1 ms where that is more.
//
// Note: what a runtime reaches is far below it where it has its CPU: rawpoll
// calls 0.5 µs late when it polls and 20 µs when it sleeps (medians; see its
// BenchmarkLateness).
func TardyAfter(rate float64) time.Duration {
	return max(time.Millisecond, time.Duration(min(1e8/rate, float64(time.Hour))))
}

// pace is what makes a session an open loop.
type pace struct {
	next  schedule // of the oldest message that has not been sent
	alarm schedule // of the first one after the last Wake: ahead of next in a backlog
	tardy int64    // TardyAfter, nanoseconds

	full  bool  // the window had no place when last looked at
	since int64 // when it last ceased to be full
}

func newPace(s *session) *pace {
	cfg, turns := &s.l.cfg, s.plan.turns[s.target]
	client := int(s.id) % cfg.Clients
	return &pace{
		next:  newSchedule(turns, gaps(cfg, client)),
		alarm: newSchedule(turns, gaps(cfg, client)),
		tardy: int64(TardyAfter(cfg.Rate)),
	}
}

// wakeAt is when the next message is due after now, or when what waits now has
// waited in vain.
func (p *pace) wakeAt(now int64) int64 {
	p.alarm.skip(now + 1)
	if p.next.due <= now {
		return min(p.alarm.due, p.next.turns[0].end)
	}
	return p.alarm.due
}

// sendDue sends what is due, each message with its own time, as far as there are
// places in the window; the others wait. In the first call after the end of a
// turn, which may be a moment late, the turn's last ones still go out; what then
// waits is unsent.
func (s *session) sendDue(out []byte, now int64) (o []byte, sent int) {
	p, unit := s.pace, s.l.cfg.unit()
	places := (s.l.cfg.Window - s.flight.n) / unit
	if p.full && places > 0 {
		p.since = now
	}
	unsent := p.next.skip(now - patience)
	n := 0
	for ; n < places && p.next.due <= now; n++ {
		s.flight.push(uint32(s.next), unit, p.next.due)
		out = s.appendMessages(out, unit)
		p.next.advance()
	}
	p.full = n == places
	s.handOver(n, now)
	for p.next.due <= now && now >= p.next.turns[0].end {
		unsent += p.next.skip(p.next.turns[0].end)
	}
	s.seen.unsent += int(unsent) * unit
	return out, n * unit
}

// handOver gives the last n entries of the flight, which hold when they were
// due, the time at which they were sent.
func (s *session) handOver(n int, now int64) {
	if n == 0 {
		return
	}
	p, at, measuring := s.pace, s.l.cfg.Clock(), s.measuring(now)
	last := s.flight.last(n)
	for i := range last {
		r := &last[i]
		due := r.sentAt
		r.sentAt, r.slip = at, at-due
		if due <= p.since {
			s.seen.blocked += r.n
		}
		if measuring && at-max(due, p.since) > p.tardy {
			s.seen.tardy += r.n
		}
	}
}
