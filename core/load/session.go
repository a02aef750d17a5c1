package load

import (
	"errors"
	"fmt"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/transport"
)

// session is the client end of one connection.
type session struct {
	l      *Load
	rec    *recorder
	target int
	id     uint32 // the client number in its messages, different for every session

	codec  protocol.Codec
	inbox  protocol.Inbox
	flight flight
	next   uint64 // messages sent; its lower half is the next sequence number
	head   [message.HeaderBytes]byte
	lost   map[uint32]struct{} // datagrams given up and not seen since

	pace  *pace // nil: a closed loop, or the plan has not begun
	plan  *plan
	slice int // where the plan was when this session last looked
	state state
	// keeper: its Wake is asked for at every edge of the plan, so that clocks
	// are read on time even while no traffic flows.
	keeper bool

	seen seen // of the call being served
}

type state uint8

const (
	opening   state = iota // nothing sent yet
	verifying              // the checked exchange is out
	ready                  // it came back; the plan may begin
	quiet                  // the plan is over, and nothing is in flight
	gone                   // closed
)

// seen is what one call of the runtime brought, recorded at its end under one
// lock.
type seen struct {
	reads, received, good, lost int
	unsent, blocked, tardy      int
	runs                        []rtt
}

// rtt is n round trips of one length, sent equally late.
type rtt struct {
	nanos, slip int64
	n           int
}

var (
	_ transport.Session = (*session)(nil)
	_ transport.Waker   = (*session)(nil)
)

var errOver = errors.New("the peer closed the connection while it was in use")

func newSession(l *Load, target, client int) *session {
	s := &session{
		l:      l,
		rec:    l.recorders[client%len(l.recorders)],
		target: target,
		id:     uint32(target*l.cfg.Clients + client),
		codec:  l.cfg.Protocol.Client(),
		keeper: client == 0,
	}
	return s
}

func (s *session) Open(out []byte) ([]byte, error) { return s.codec.Open(out) }

func (s *session) Data(in, out []byte) ([]byte, error) {
	now := s.l.cfg.Clock()
	s.look(now)
	s.seen.reads = 1
	for len(in) > 0 {
		msg, used, o, err := s.inbox.Next(s.codec, in, out)
		out = o
		if msg != nil {
			if wrong := s.receive(msg, now); wrong != nil {
				err = wrong
			}
		}
		if err != nil && s.l.cfg.Protocol.Datagram {
			// Anyone can send to the socket: one bad datagram ends nothing.
			s.wrong(control.CountContent, err.Error())
			break
		}
		if err != nil {
			return out, s.finish(err, now)
		}
		if used == 0 {
			break
		}
		in = in[used:]
	}
	out, sent := s.send(out, now)
	s.record(now, sent)
	s.settle(now)
	return out, nil
}

func (s *session) Wake(out []byte) ([]byte, int64, error) {
	now := s.l.cfg.Clock()
	s.look(now)
	s.giveUp(now)
	out, sent := s.send(out, now)
	s.record(now, sent)
	s.settle(now)
	return out, s.wakeAt(now), nil
}

// finish enters what the last call brought when err ends the conversation, and
// returns what the runtime is to be told.
func (s *session) finish(err error, now int64) error {
	if errors.Is(err, protocol.ErrClosed) {
		s.record(now, 0)
		s.settle(now)
		return transport.ErrDone
	}
	s.l.note(s.target, err.Error())
	s.rec.count(s.target, control.CountContent, 1)
	s.record(now, 0)
	return err
}

// look brings the session up to the plan and passes the plan's edges.
func (s *session) look(now int64) {
	if s.plan == nil {
		if s.plan = s.l.plan.Load(); s.plan == nil {
			return
		}
		if s.l.cfg.Rate > 0 {
			s.pace = newPace(s)
		}
	}
	s.slice = s.plan.at(s.slice, now)
	if now >= s.plan.nextEdge.Load() {
		s.plan.pass(now)
	}
}

// send fills the window if it is this session's turn, or, in an open loop, sends
// what is due.
func (s *session) send(out []byte, now int64) (o []byte, sent int) {
	n := 0
	switch {
	case s.pace != nil && s.state == ready:
		return s.sendDue(out, now)
	case !s.codec.Ready():
	case s.state == opening:
		s.state = verifying
		n = s.l.cfg.unit()
	case s.state == ready && s.mayTalk():
		n = s.l.cfg.Window - s.flight.n
		if s.l.cfg.Batch && n < s.l.cfg.Window {
			n = 0
		}
	}
	if n == 0 {
		return out, 0
	}
	first := uint32(s.next)
	out = s.appendMessages(out, n)
	s.flight.push(first, n, s.l.cfg.Clock())
	return out, n
}

// appendMessages appends the next n messages.
func (s *session) appendMessages(out []byte, n int) []byte {
	first, bodies := uint32(s.next), s.l.bodies
	for i := range uint32(n) {
		message.Header{Client: s.id, Seq: first + i}.Put(s.head[:])
		out = s.codec.Append(out, s.head[:], bodies.Body(s.id, first+i))
	}
	s.next += uint64(n)
	return out
}

// mayTalk reports whether the slice belongs to this session's target.
func (s *session) mayTalk() bool {
	return s.plan != nil && s.slice < len(s.plan.slices) && s.plan.slices[s.slice].Target == s.target
}

// counting reports whether the plan is in a counted slice.
func (s *session) counting() bool {
	return s.plan != nil && s.slice < len(s.plan.slices) && s.plan.slices[s.slice].Counted
}

// measuring reports whether now lies in the window of a counted slice of this
// session's target.
func (s *session) measuring(now int64) bool {
	return s.mayTalk() && s.counting() && now >= s.plan.start[s.slice]+s.plan.slices[s.slice].Settle
}

// record enters what the call saw.
func (s *session) record(now int64, sent int) {
	r := s.rec
	r.mu.Lock()
	t := &r.traffic[s.target]
	t.sent += int64(sent)
	t.received += int64(s.seen.received)
	t.lost += int64(s.seen.lost)
	t.reads += int64(s.seen.reads)
	t.unsent += int64(s.seen.unsent)
	t.blocked += int64(s.seen.blocked)
	t.tardy += int64(s.seen.tardy)
	if s.plan != nil && s.seen.good > 0 {
		s.enter(r, now)
	}
	r.mu.Unlock()
	s.seen = seen{runs: s.seen.runs[:0]}
}

// enter puts the good round trips into the slice they arrived in: its window if
// the slice is this target's and has settled, else beside the window of the
// slice that paid for them.
func (s *session) enter(r *recorder, now int64) {
	i := s.slice
	if !s.mayTalk() {
		if i = s.plan.lastSlice(s.target, s.slice); i < 0 {
			return
		}
		r.slices[i].beside += int64(s.seen.good)
		return
	}
	c := &r.slices[i]
	if now < s.plan.start[i]+s.plan.slices[i].Settle {
		c.beside += int64(s.seen.good)
		return
	}
	c.roundTrips += int64(s.seen.good)
	for _, x := range s.seen.runs {
		c.rttSum += x.nanos * int64(x.n)
		if s.plan.slices[i].Counted {
			r.rtt[s.target].RecordN(x.nanos, int64(x.n))
			if s.pace != nil {
				r.intended[s.target].RecordN(x.nanos+x.slip, int64(x.n))
				r.slip[s.target].RecordN(x.slip, int64(x.n))
			}
		}
	}
}

func (v *seen) add(nanos, slip int64) {
	if last := len(v.runs) - 1; last >= 0 && v.runs[last].nanos == nanos && v.runs[last].slip == slip {
		v.runs[last].n++
		return
	}
	v.runs = append(v.runs, rtt{nanos, slip, 1})
}

// keptLost bounds what is remembered of lost datagrams.
const keptLost = 4096

// giveUp counts datagrams that were not answered in time as lost, which frees
// their places in the window. The oldest were sent first, so it looks no further
// than the first that still has time.
func (s *session) giveUp(now int64) {
	after := s.l.cfg.LossAfter
	if !s.l.cfg.Protocol.Datagram || after == 0 {
		return
	}
	for r := s.flight.oldest(); r != nil && now-r.sentAt >= after; r = s.flight.oldest() {
		gone := s.flight.lose()
		s.seen.lost += gone.n
		if s.lost == nil || len(s.lost) > keptLost {
			s.lost = make(map[uint32]struct{})
		}
		for i := range gone.n {
			s.lost[gone.first+uint32(i)] = struct{}{}
		}
		if s.state == verifying { // the checked exchange is tried again
			s.state = opening
		}
	}
}

// settle notices the end of the checked exchange and the end of all traffic.
func (s *session) settle(now int64) {
	if s.flight.n > 0 {
		return
	}
	switch {
	case s.state == verifying:
		s.state = ready
		s.answered()
	case s.state == ready && s.plan != nil && now >= s.plan.over():
		s.state = quiet
		s.hush()
	}
}

// answered counts down the sessions whose checked exchange is out.
func (s *session) answered() {
	if s.l.waiting.Add(-1) == 0 {
		close(s.l.verified)
	}
}

// hush counts down the sessions that may have something in flight. The last one
// reads the targets' clocks, now that all are idle.
func (s *session) hush() {
	if s.l.loud.Add(-1) == 0 {
		if p := s.l.plan.Load(); p != nil {
			p.settled()
		}
		close(s.l.done)
	}
}

// wakeAt is when this session wants to act next on its own; 0: never.
func (s *session) wakeAt(now int64) int64 {
	var at int64
	switch {
	case s.plan == nil:
	case s.slice < len(s.plan.slices):
		at = s.plan.nextTurn(s.target, now)
		if s.keeper {
			at = min(at, s.plan.nextEdge.Load())
		}
		if s.pace != nil {
			at = min(at, s.pace.wakeAt(now))
		}
	case now < s.plan.over():
		at = s.plan.over()
	}
	if r := s.flight.oldest(); r != nil && s.l.cfg.Protocol.Datagram && s.l.cfg.LossAfter > 0 {
		if due := r.sentAt + s.l.cfg.LossAfter; at == 0 || due < at {
			at = due
		}
	}
	return at
}

func (s *session) End(out []byte) ([]byte, error) {
	if s.state == quiet {
		return out, nil
	}
	return out, errOver
}

// Close counts a connection that ended before the plan did.
func (s *session) Close(err error) {
	was := s.state
	s.state = gone
	if was == quiet || was == gone {
		return
	}
	if err == nil {
		err = errOver
	}
	s.wrong(control.CountDisconnects, fmt.Sprintf("client %d: disconnected: %v", s.id, err))
	if was == opening || was == verifying {
		s.answered()
	}
	s.hush()
}
