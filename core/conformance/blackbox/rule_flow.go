package blackbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// flowRules are about a plugin that has more to do than it can.
var flowRules = []Rule{
	{"SlowReader", "holds no more for a peer that does not read than buffers can, or says in Info.ReadsOn why it cannot pause", streams, boundsMemory},
	{"Control", "answers the driver within a second while messages flow", serves, staysInControl},
}

// flood is how much peers send before they read anything.
type flood struct {
	peers, messages int
	bound           int64 // of the growth in memory, bytes
}

const floodPayload = 64 << 10

// flood: without a pause only the window bounds what is held, each message at
// most in an input buffer, an output buffer and twice in a growing one.
func (e *env) flood() flood {
	const base = 32 << 20 // buffers, and a collector that lets garbage double
	if e.plugin.Info.ReadsOn != "" {
		f := flood{peers: 16, messages: plainWindow}
		f.bound = base + 4*int64(f.peers*f.messages*floodPayload)
		return f
	}
	return flood{peers: 1, messages: e.scale(4096, 1024), bound: base}
}

// boundsMemory has peers send and not read until nothing moves any more, looks
// at the memory, and then has them read: nothing may be missing.
func boundsMemory(e *env) (string, error) {
	f := e.flood()
	err := e.serve(floodPayload, func(s *control.Setup) {
		s.Cell.Clients, s.Cell.Window = f.peers, f.messages
		s.Send, s.Receive = 64<<10, 64<<10
	})
	if err != nil {
		return "", err
	}
	before, err := sysinfo.PeakRSS(e.process.PID())
	if err != nil {
		return "", unseen(err)
	}
	var sent atomic.Int64
	writers := make(chan error, f.peers)
	peers := make([]*peer, f.peers)
	for i := range peers {
		if peers[i], err = e.dial(i); err != nil {
			return "", err
		}
		go func() { writers <- peers[i].pour(f.messages, &sent) }()
	}
	if err := e.stands(&sent, int64(f.peers*f.messages)); err != nil {
		return "", err
	}
	after, err := sysinfo.PeakRSS(e.process.PID())
	if err != nil {
		return "", unseen(err)
	}
	took := sent.Load() * floodPayload
	seen := fmt.Sprintf("%s more memory when %s had been sent and nothing read; the bound is %s", mib(after-before), mib(took), mib(f.bound))
	if after-before > f.bound {
		return "", errors.New(seen)
	}
	err = each(f.peers, func(i int) error { return peers[i].answers(0, f.messages) })
	if err != nil {
		e.closeAll()
		return "", fmt.Errorf("once the peer reads: %w", err)
	}
	for range peers {
		if err := <-writers; err != nil {
			return "", err
		}
	}
	return seen, nil
}

// pour sends messages one by one and counts them.
func (p *peer) pour(messages int, sent *atomic.Int64) error {
	for i := range messages {
		if err := p.ask(uint32(i), 1); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

// stands waits until a count has reached all, or stood still for a while.
func (e *env) stands(count *atomic.Int64, all int64) error {
	const while = 300 * time.Millisecond
	last, since := int64(-1), time.Now()
	return e.eventually(limit, func() error {
		now := count.Load()
		if now != last {
			last, since = now, time.Now()
		}
		if now < all && time.Since(since) < while {
			return errors.New("the plugin goes on reading by fits and starts")
		}
		return nil
	})
}

// staysInControl: what the driver may ask at any time is Describe.
func staysInControl(e *env) (string, error) {
	const most = time.Second
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	talk, err := e.chatter(4)
	if err != nil {
		return "", err
	}
	var slowest time.Duration
	calls := e.scale(50, 20)
	for range calls {
		ctx, cancel := context.WithTimeout(e.ctx, most)
		began := time.Now()
		_, err := e.process.Describe(ctx)
		cancel()
		if err != nil {
			return "", fmt.Errorf("describe while messages flow: %w", err)
		}
		slowest = max(slowest, time.Since(began))
	}
	messages, err := talk.stop()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d calls beside %d messages, the slowest took %v", calls, messages, slowest.Round(10*time.Microsecond)), nil
}

// chatter is peers that exchange messages until they are stopped.
type chatter struct {
	over     atomic.Bool
	messages atomic.Int64
	ended    chan error
	peers    int
}

// chatter starts peers, each of which has had an answer when it returns.
func (e *env) chatter(n int) (*chatter, error) {
	c := &chatter{ended: make(chan error, n), peers: n}
	for id := range n {
		p, err := e.dial(id)
		if err == nil {
			err = p.exchange(0, 1)
		}
		if err != nil {
			return nil, err
		}
		go func() {
			var err error
			for i := uint32(1); err == nil && !c.over.Load(); i++ {
				err = p.exchange(i, 1)
				c.messages.Add(1)
			}
			c.ended <- err
		}()
	}
	return c, nil
}

// stop has the peers end and returns how many messages they exchanged.
func (c *chatter) stop() (messages int64, err error) {
	c.over.Store(true)
	for range c.peers {
		err = errors.Join(err, <-c.ended)
	}
	return c.messages.Load(), err
}
