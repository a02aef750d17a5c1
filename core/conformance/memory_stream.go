package conformance

import (
	"github.com/netmatrix/netmatrix/core/transport"
)

// stream is one end of a connection in memory.
type stream struct {
	side
	peer    *stream
	in      pipe   // what the peer has sent
	pending []byte // output that the peer's pipe does not hold yet
	shut    bool   // this end sends no more
	queued  bool   // a read is scheduled
	most    int    // bytes of one read
}

// pipe is what one end has sent and the other has not read.
type pipe struct {
	size     int    // bytes that it holds at most
	bytes    []byte // oldest first
	segments []int  // the writes that bytes came in
	arrived  int    // of bytes
	read     int64  // bytes that have gone through
	ended    bool   // the end has arrived behind bytes
}

// take removes the n oldest bytes. They are the caller's.
func (p *pipe) take(n int) []byte {
	b := append([]byte(nil), p.bytes[:n]...)
	p.bytes = p.bytes[n:]
	p.arrived -= n
	p.read += int64(n)
	for n > 0 {
		k := min(n, p.segments[0])
		p.segments[0] -= k
		n -= k
		if p.segments[0] == 0 {
			p.segments = p.segments[1:]
		}
	}
	return b
}

// connect makes both ends of a connection.
func (m *Memory) connect(dialling *memoryGroup, l *listener, session transport.Session) {
	a := m.newStream(dialling, session)
	b := m.newStream(l.group, l.session())
	a.peer, b.peer = b, a
	a.in.size = m.bufferSize(b.group.config.SendBuffer) + m.bufferSize(a.group.config.ReceiveBuffer)
	b.in.size = m.bufferSize(a.group.config.SendBuffer) + m.bufferSize(b.group.config.ReceiveBuffer)
	a.join()
	b.join()
}

func (m *Memory) newStream(g *memoryGroup, session transport.Session) *stream {
	s := &stream{side: side{net: m, group: g, session: session}, most: g.config.ReadBuffer}
	if s.most == 0 {
		s.most = defaultRead
	}
	s.link = s
	return s
}

func (m *Memory) bufferSize(asked int) int {
	if asked == 0 {
		return m.under.Buffer
	}
	return asked
}

// later runs f when what is sent now arrives.
func (s *stream) later(f func()) {
	s.net.timeline.at(s.net.Clock()+s.net.under.Latency, rankWire, f)
}

func (s *stream) send(out []byte) {
	s.pending = append(s.pending, out...)
	s.flush()
}

// flush moves pending output into the pipe, as far as that has room.
func (s *stream) flush() {
	to := s.peer
	if to.closed && len(s.pending) > 0 { // nobody reads it
		s.pending = nil
		s.later(s.reset)
		return
	}
	if n := min(len(s.pending), to.in.size-len(to.in.bytes)); n > 0 {
		to.in.bytes = append(to.in.bytes, s.pending[:n]...)
		to.in.segments = append(to.in.segments, n)
		s.pending = s.pending[n:]
		s.later(func() {
			to.in.arrived += n
			to.readSoon()
		})
	}
	if len(s.pending) > 0 {
		return
	}
	s.readSoon() // which pending output may have held up
	if s.over && !s.shut {
		s.shutDown()
	}
}

// shutDown tells the peer that nothing more comes, and waits for its end.
func (s *stream) shutDown() {
	s.shut = true
	s.later(func() {
		s.peer.in.ended = true
		s.peer.readSoon()
	})
	s.net.timeline.at(s.net.Clock()+lingerFor, rankWire, s.close)
}

func (s *stream) finish() { s.flush() }

func (s *stream) readSoon() {
	if !s.queued {
		s.queued = true
		s.net.timeline.at(s.net.Clock(), rankRead, s.read)
	}
}

// read hands over one cut of what has arrived, or the end.
func (s *stream) read() {
	s.queued = false
	switch {
	case s.closed || !s.opened:
	case s.over:
		s.drop()
	case len(s.pending) > 0 && !s.group.dialled:
		// The listening end reads nothing while its output is pending.
	case s.in.arrived > 0:
		n := s.net.under.Cut.next(s.net.rng, s.in.read, s.in.segments[0], min(s.in.arrived, s.most))
		b := s.take(n)
		s.data(b)
		s.readSoon()
	case s.in.ended && len(s.in.bytes) == 0:
		s.end()
	}
}

// take removes n bytes from the pipe and has the peer use the room.
func (s *stream) take(n int) []byte {
	if n == 0 {
		return nil
	}
	b := s.in.take(n)
	s.peer.flush()
	return b
}

// drop lets go of what comes after the session is over.
func (s *stream) drop() {
	s.take(s.in.arrived)
	if s.shut && s.in.ended && len(s.in.bytes) == 0 {
		s.close()
	}
}

// reset is what the peer's kernel says when nobody is there to read.
func (s *stream) reset() {
	s.pending = nil
	s.fail(errReset)
	s.close()
}

func (s *stream) close() {
	s.side.close()
}

// abandon closes without waiting for anything, as a kernel does: what was sent
// still arrives, and input that nobody has read turns the end into a reset.
func (s *stream) abandon() {
	s.fail(errClosed)
	unread := len(s.in.bytes) > 0
	s.pending = nil
	s.close()
	if s.peer.closed {
		return
	}
	if unread {
		s.later(s.peer.reset)
	} else if !s.shut {
		s.shutDown()
	}
}
