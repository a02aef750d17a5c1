package load

import (
	"math"
	"math/rand/v2"

	"github.com/netmatrix/netmatrix/core/control"
)

// never is later than any clock.
const never = math.MaxInt64

// schedule is when one client's messages of an open loop are due, fixed before
// the first is sent. It runs on the target's own time, which stands still while
// another target has its turn, so that the rate holds within the turns.
type schedule struct {
	due   int64          // the next one on the load's clock, or never
	turns []turn         // those not over when it is due
	draw  func() float64 // the next one in nanoseconds of the target's own time
}

func newSchedule(turns []turn, draw func() float64) schedule {
	c := schedule{turns: turns, draw: draw}
	c.advance()
	return c
}

// advance goes on to the next message.
func (c *schedule) advance() {
	own := c.draw()
	for ; len(c.turns) > 0; c.turns = c.turns[1:] {
		t := c.turns[0]
		if own < float64(t.before+t.end-t.start) {
			c.due = t.start + int64(own) - t.before
			return
		}
	}
	c.due = never
}

// skip drops what is due before a time and returns how much that was. It walks:
// what a rate beyond all measure offers takes its time to drop, too.
func (c *schedule) skip(before int64) (n int64) {
	for c.due < before {
		c.advance()
		n++
	}
	return n
}

// gaps returns what draws the times of a client, the same at each call. Fixed,
// message j of all clients together is due at j ÷ rate and the clients take them
// in turn: no two fire together, and any rate and number of clients come to the
// right total. Exponential, each client draws for itself, whatever the target,
// so that every target is offered the same.
func gaps(cfg *Config, client int) func() float64 {
	rate := cfg.Rate / float64(cfg.unit())
	if cfg.Gaps == control.GapsExponential {
		rng := rand.New(rand.NewPCG(cfg.Seed, uint64(client)))
		mean, at := float64(cfg.Clients)*1e9/rate, 0.0
		return func() float64 {
			at += rng.ExpFloat64() * mean
			return at
		}
	}
	j := client - cfg.Clients
	return func() float64 {
		j += cfg.Clients
		return float64(j) * 1e9 / rate
	}
}
