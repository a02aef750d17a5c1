package load

import (
	"errors"
	"fmt"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
)

var errLied = errors.New("an echo answers no message that was sent")

// receive takes one echo. An error means that the conversation makes no sense
// any more.
func (s *session) receive(msg []byte, now int64) error {
	h, ok := message.Parse(msg)
	if !ok || h.Client != s.id {
		return s.foreign(msg)
	}
	sentAt, slip, ok := s.flight.next(h.Seq)
	if !ok {
		return s.outOfTurn(msg, h, now)
	}
	s.answer(msg, h, now-sentAt, slip)
	return nil
}

// outOfTurn takes an echo that does not answer the oldest message.
func (s *session) outOfTurn(msg []byte, h message.Header, now int64) error {
	sentAt, slip, ok := s.flight.take(h.Seq)
	switch {
	case !ok:
		return s.unasked(h)
	case s.l.cfg.Protocol.Datagram:
		s.answer(msg, h, now-sentAt, slip)
	default:
		s.seen.received++
		s.wrong(control.CountOrder, fmt.Sprintf("client %d: the echo of message %d overtook an older one", s.id, h.Seq))
	}
	return nil
}

// answer enters the echo of a message that was in flight for rttNanos and had
// been sent slipNanos late, if it is right: its length and the work's result always, its body when it was chosen
// or nothing is counted yet.
func (s *session) answer(msg []byte, h message.Header, rttNanos, slipNanos int64) {
	s.seen.received++
	if len(msg) != s.l.cfg.Payload || h.Result != s.l.work.Result(s.id, h.Seq) || s.checks(h.Seq) && !s.l.bodies.Equal(msg, s.id, h.Seq) {
		s.differs(msg, h)
		return
	}
	s.seen.good++
	if !s.l.cfg.Batch || s.flight.n == 0 {
		s.seen.add(rttNanos, slipNanos)
	}
}

// checks reports whether the whole body of an echo is compared: when it was
// chosen, or nothing is counted yet.
func (s *session) checks(seq uint32) bool {
	return s.l.cfg.CheckAll || !s.counting() || s.l.bodies.Chosen(s.id, seq)
}

func (s *session) foreign(msg []byte) error {
	return fmt.Errorf("client %d: %w: %d bytes beginning % x", s.id, errLied, len(msg), msg[:min(len(msg), message.HeaderBytes)])
}

// differs says what is wrong with an echo. It answers its message all the same.
func (s *session) differs(msg []byte, h message.Header) {
	var text string
	switch want := s.l.work.Result(s.id, h.Seq); {
	case len(msg) != s.l.cfg.Payload:
		text = fmt.Sprintf("the echo of message %d has %d bytes instead of %d", h.Seq, len(msg), s.l.cfg.Payload)
	case h.Result != want:
		text = fmt.Sprintf("the work's result for message %d is %#x instead of %#x: the server skipped or changed the work", h.Seq, h.Result, want)
	default:
		text = fmt.Sprintf("the body of the echo of message %d differs from what was sent", h.Seq)
	}
	s.wrong(control.CountContent, fmt.Sprintf("client %d: %s", s.id, text))
}

// unasked takes an echo that answers nothing in flight: of a datagram already
// given up or already answered, or an invention.
func (s *session) unasked(h message.Header) error {
	if _, ok := s.lost[h.Seq]; ok {
		delete(s.lost, h.Seq)
		s.rec.count(s.target, control.CountLate, 1)
		return nil
	}
	behind := uint32(s.next) - h.Seq // 1: the message sent last
	if behind-1 >= 1<<31 || uint64(behind) > s.next {
		return fmt.Errorf("client %d: %w: message %d", s.id, errLied, h.Seq)
	}
	s.wrong(control.CountDuplicate, fmt.Sprintf("client %d: message %d was answered twice", s.id, h.Seq))
	return nil
}

func (s *session) wrong(key, text string) {
	s.rec.count(s.target, key, 1)
	s.l.note(s.target, text)
}
