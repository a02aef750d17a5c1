// Package load is the client side, written once over any codec: it keeps a
// window of messages in flight on each connection, checks every echo and times
// it. It knows messages, codecs and time, and nothing of sockets; its clock
// comes from outside.
//
// A Load follows a plan of slices. Each slice talks to one target; a session
// whose target's slice it is refills its window (closed loop) or sends by a
// schedule fixed beforehand (open loop), the others wait for their turn. A round
// trip belongs to the slice its echo arrived in, by the clock
// read when the bytes were handed over.
package load

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/transport"
)

// Config says what to send and how to watch it.
type Config struct {
	Protocol protocol.Protocol
	Payload  int   // bytes of a message
	Clients  int   // connections to each target
	Window   int   // most messages in flight on one connection
	Batch    bool  // send a whole window, wait for all of it, RTT per window
	Work     int64 // operations the server does for each message
	// Rate is how many messages a second are offered to a target over all its
	// clients, however fast the answers come: an open loop. Window then bounds
	// what is in flight, and in batch whole windows are offered. 0: closed loop.
	Rate     float64
	Gaps     string // control.GapsFixed (default) or control.GapsExponential
	Seed     uint64
	CheckAll bool // check every body, not 1 in 64
	// LossAfter is the time after which an unanswered datagram is lost; 0: never.
	LossAfter int64
	// Shards is how many recorders the sessions share; about four for each
	// IO thread keeps them from meeting. Default 1.
	Shards int
	Clock  func() int64 // monotonic nanoseconds

	// TargetCPU reads the CPU clock of a target's process, OwnCPU that of this
	// one and Working the time this one's IO threads had work in hand, all in
	// nanoseconds and -1 where there is none. Nil: never any.
	TargetCPU func(target int) int64
	OwnCPU    func() int64
	Working   func() int64
}

// unit is how many messages are sent at once at least.
func (c *Config) unit() int {
	if c.Batch {
		return c.Window
	}
	return 1
}

// Load is one measurement of one or more targets.
type Load struct {
	cfg    Config
	work   message.Work
	bodies *message.Bodies

	sessions  [][]*session // by target, then client
	recorders []*recorder
	plan      atomic.Pointer[plan]

	waiting  atomic.Int64 // sessions whose checked exchange is still out
	verified chan struct{}
	loud     atomic.Int64 // sessions that may still have messages in flight
	done     chan struct{}

	mu          sync.Mutex
	started     bool
	firstErrors [][]string // by target
}

// New makes the sessions for the given number of targets.
func New(cfg Config, targets int) (*Load, error) {
	switch {
	case targets < 1 || cfg.Clients < 1 || cfg.Window < 1:
		return nil, fmt.Errorf("load: %d targets, %d clients, window %d: each must be 1 or more", targets, cfg.Clients, cfg.Window)
	case cfg.Payload < message.HeaderBytes || cfg.Payload > cfg.Protocol.MaxPayload:
		return nil, fmt.Errorf("load: payload %d lies outside %d to %d", cfg.Payload, message.HeaderBytes, cfg.Protocol.MaxPayload)
	case cfg.Clock == nil:
		return nil, errors.New("load: no clock")
	case !(cfg.Rate >= 0) || math.IsInf(cfg.Rate, 0):
		return nil, fmt.Errorf("load: a rate of %g messages a second: it must be 0 (closed loop) or more", cfg.Rate)
	case cfg.Gaps != "" && cfg.Gaps != control.GapsFixed && cfg.Gaps != control.GapsExponential:
		return nil, fmt.Errorf("load: gaps %q are neither %s nor %s", cfg.Gaps, control.GapsFixed, control.GapsExponential)
	}
	l := &Load{
		cfg:         cfg,
		work:        message.NewWork(cfg.Work),
		bodies:      message.NewBodies(cfg.Seed, cfg.Payload),
		verified:    make(chan struct{}),
		done:        make(chan struct{}),
		firstErrors: make([][]string, targets),
	}
	all := int64(targets * cfg.Clients)
	l.waiting.Store(all)
	l.loud.Store(all)
	for range min(max(cfg.Shards, 1), cfg.Clients) {
		l.recorders = append(l.recorders, newRecorder(targets, cfg.Rate > 0))
	}
	for t := range targets {
		list := make([]*session, cfg.Clients)
		for i := range list {
			list[i] = newSession(l, t, i)
		}
		l.sessions = append(l.sessions, list)
	}
	return l, nil
}

// Sessions are the sessions of one target, to be dialled once.
func (l *Load) Sessions(target int) []transport.Session {
	list := make([]transport.Session, len(l.sessions[target]))
	for i, s := range l.sessions[target] {
		list[i] = s
	}
	return list
}

// Verified is closed when each session has had one checked exchange, or has
// failed to: then Err says so.
func (l *Load) Verified() <-chan struct{} { return l.verified }

// Start begins the plan now; every session has to be verified or gone.
// Afterwards the groups have to be woken, once.
func (l *Load) Start(slices []control.Slice) error {
	p, err := newPlan(slices, len(l.sessions))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started {
		return errors.New("load: already measured")
	}
	if n := l.waiting.Load(); n > 0 {
		return fmt.Errorf("load: the checked exchange of %d sessions is still out: wait for Verified", n)
	}
	l.started = true
	for _, r := range l.recorders {
		r.begin(len(slices))
	}
	p.begin(l.cfg.Clock(), &l.cfg)
	l.plan.Store(p)
	return nil
}

// Done is closed when the plan is over and no session has a message in flight.
func (l *Load) Done() <-chan struct{} { return l.done }

// Err is the first error of each target so far, or nil.
func (l *Load) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for t, list := range l.firstErrors {
		if len(list) > 0 {
			errs = append(errs, fmt.Errorf("target %d: %s", t, list[0]))
		}
	}
	return errors.Join(errs...)
}

// keptErrors is how many error texts are kept of each target.
const keptErrors = 5

func (l *Load) note(target int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.firstErrors[target]) < keptErrors {
		l.firstErrors[target] = append(l.firstErrors[target], text)
	}
}

// LongestRTT is the longest RTT recorded so far, in nanoseconds.
func (l *Load) LongestRTT() int64 {
	var longest int64
	for _, r := range l.recorders {
		longest = max(longest, r.longest())
	}
	return longest
}

// Result adds up what was seen. Messages in flight count as unfinished.
func (l *Load) Result() (control.Result, error) {
	p := l.plan.Load()
	if p == nil {
		return control.Result{}, errors.New("load: not started")
	}
	total := newRecorder(len(l.sessions), l.cfg.Rate > 0)
	total.begin(len(p.slices))
	for _, r := range l.recorders {
		r.addTo(total)
	}
	res := control.Result{Slices: p.samples(total)}
	l.mu.Lock()
	defer l.mu.Unlock()
	for t := range l.sessions {
		tally := total.tally(t)
		tally.FirstErrors = append([]string(nil), l.firstErrors[t]...)
		res.Targets = append(res.Targets, tally)
	}
	return res, nil
}
