// Package echo is the server session, written once over any codec: it answers
// each message with itself, after the work asked for. It knows messages and
// codecs, and nothing of sockets or time.
package echo

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/transport"
)

// Config says what a server does with a message.
type Config struct {
	Protocol protocol.Protocol
	Work     int64 // operations for each message
	Batch    int   // messages read before any is answered; 0 or 1: each at once
}

// Server makes the sessions of one listener and counts what they did.
type Server struct {
	cfg  Config
	work message.Work

	mu     sync.Mutex
	live   map[*session]struct{}
	closed Counts
}

// Counts are totals since the start.
type Counts struct {
	Opened   int64 // sessions that were opened
	Live     int64 // of those, not closed yet
	Messages int64 // messages answered
	Reads    int64 // Data calls
}

// NewServer returns a server without sessions.
func NewServer(cfg Config) *Server {
	return &Server{cfg: cfg, work: message.NewWork(cfg.Work), live: make(map[*session]struct{})}
}

// Session makes one session; it is what transport.Runtime.Listen wants.
func (s *Server) Session() transport.Session {
	return &session{server: s, codec: s.cfg.Protocol.Server()}
}

// Counts adds up what all sessions did so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.closed
	for x := range s.live {
		c.Messages += x.messages.Load()
		c.Reads += x.reads.Load()
	}
	c.Live = int64(len(s.live))
	c.Opened += c.Live
	return c
}

func (s *Server) opened(x *session) {
	s.mu.Lock()
	s.live[x] = struct{}{}
	s.mu.Unlock()
}

func (s *Server) gone(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.live[x]; !ok {
		return // closed before it was opened
	}
	delete(s.live, x)
	s.closed.Opened++
	s.closed.Messages += x.messages.Load()
	s.closed.Reads += x.reads.Load()
}

// session is one end. Its counters are its own, so that sessions on different
// threads share no cache line while messages flow.
type session struct {
	server *Server
	codec  protocol.Codec
	inbox  protocol.Inbox
	held   []byte // batch: the answers of a batch not yet complete
	heldN  int

	messages, reads atomic.Int64
}

var _ transport.Session = (*session)(nil)

func (s *session) Open(out []byte) ([]byte, error) {
	s.server.opened(s)
	return s.codec.Open(out)
}

func (s *session) Data(in, out []byte) ([]byte, error) {
	var n int
	var err error
	switch {
	case s.server.cfg.Batch > 1:
		n, out, err = s.batch(in, out)
	case s.server.cfg.Protocol.Mirror && len(out) == 0 && s.inbox.Empty():
		n, out, err = s.mirror(in, out)
	default:
		n, out, err = s.stream(in, out)
	}
	s.reads.Add(1)
	s.messages.Add(int64(n))
	switch {
	case s.server.cfg.Protocol.Datagram:
		err = nil // anyone can send to the socket: what is malformed is dropped
	case errors.Is(err, protocol.ErrClosed):
		err = transport.ErrDone
	}
	return out, err
}

// stream answers each message behind the one before.
func (s *session) stream(in, out []byte) (n int, o []byte, err error) {
	for len(in) > 0 {
		msg, used, o, err := s.inbox.Next(s.codec, in, out)
		out = o
		if msg != nil {
			if err := s.handle(msg); err != nil {
				return n, out, err
			}
			out = s.codec.Append(out, msg, nil)
			n++
		}
		if err != nil || used == 0 {
			return n, out, err
		}
		in = in[used:]
	}
	return n, out, nil
}

// mirror answers whole messages from the buffer they arrived in. A codec that
// mirrors has no units without a message and answers nothing by itself.
func (s *session) mirror(in, out []byte) (n int, o []byte, err error) {
	done := 0
	for done < len(in) {
		var msg []byte
		var used int
		msg, used, out, err = s.inbox.Next(s.codec, in[done:], out)
		if err == nil && used > 0 {
			err = s.handle(msg)
		}
		if err != nil || used == 0 {
			break
		}
		done += used
		n++
	}
	if done > 0 {
		out = in[:done:done]
	}
	return n, out, err
}

// batch keeps the answers back until Config.Batch messages are in.
func (s *session) batch(in, out []byte) (n int, o []byte, err error) {
	for len(in) > 0 {
		msg, used, o, err := s.inbox.Next(s.codec, in, out)
		out = o
		if err != nil || used == 0 {
			return n, out, err
		}
		in = in[used:]
		if msg == nil {
			continue
		}
		if err := s.handle(msg); err != nil {
			return n, out, err
		}
		s.held = s.codec.Append(s.held, msg, nil)
		s.heldN++
		if s.heldN == s.server.cfg.Batch {
			out = append(out, s.held...)
			n += s.heldN
			s.held, s.heldN = s.held[:0], 0
		}
	}
	return n, out, nil
}

// handle does the work for one message and puts the result into it. Without
// work a message may be anything, such as a few bytes from someone's own client.
func (s *session) handle(msg []byte) error {
	if s.server.work.None() {
		return nil // small enough to be inlined
	}
	return s.work(msg)
}

func (s *session) work(msg []byte) error {
	if len(msg) < message.HeaderBytes {
		return fmt.Errorf("%w: message of %d bytes, shorter than its header", protocol.ErrMalformed, len(msg))
	}
	h, ok := message.Parse(msg)
	if !ok {
		return fmt.Errorf("%w: message without the magic number", protocol.ErrMalformed)
	}
	message.PutResult(msg, s.server.work.Do(h.Client, h.Seq))
	return nil
}

// End has nothing to add: what was asked has been answered.
func (s *session) End(out []byte) ([]byte, error) { return out, nil }

func (s *session) Close(error) { s.server.gone(s) }
