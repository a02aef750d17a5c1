package conformance

import (
	"github.com/netmatrix/netmatrix/core/transport"
)

// socket is a udp socket in memory.
type socket struct {
	side
	addr   string
	remote string // of a dialled one
	from   string // of the datagram in hand: where the answer goes
}

func (m *Memory) bind(g *memoryGroup, addr, remote string, session transport.Session) {
	s := &socket{side: side{net: m, group: g, session: session}, addr: addr, remote: remote}
	s.link = s
	m.sockets[addr] = s
	s.join()
}

// send cuts out into datagrams and sends them to the peer or, at a listening
// end, back to where the datagram in hand came from.
func (s *socket) send(out []byte) {
	to := s.remote
	if to == "" {
		to = s.from
	}
	if to == "" && len(out) > 0 {
		s.net.fault("a session listening for datagrams sends %d bytes to nobody: it has received none", len(out))
		return
	}
	size := s.group.config.DatagramBytes
	if size == 0 {
		size = max(1, len(out))
	}
	for ; len(out) > 0; out = out[min(size, len(out)):] {
		d := append([]byte(nil), out[:min(size, len(out))]...)
		if len(d) > maxDatagram {
			s.net.fault("a datagram of %d bytes is longer than the most, %d", len(d), maxDatagram)
			return
		}
		s.transmit(d, to)
	}
}

// transmit leaves one datagram to chance.
func (s *socket) transmit(d []byte, to string) {
	under, rng := &s.net.under, s.net.rng
	copies := 1
	switch {
	case rng.Float64() < under.Loss:
		copies = 0
	case rng.Float64() < under.Duplicate:
		copies = 2
	}
	for range copies {
		delay := under.Latency
		if under.Jitter > 0 {
			delay += rng.Int64N(under.Jitter + 1)
		}
		b := append([]byte(nil), d...)
		s.net.timeline.at(s.net.Clock()+delay, rankWire, func() { s.net.arrive(b, s.addr, to) })
	}
}

// arrive hands a datagram to whoever has the address now.
func (m *Memory) arrive(d []byte, from, to string) {
	s := m.sockets[to]
	if s == nil || !s.opened || s.over || s.remote != "" && s.remote != from {
		return
	}
	s.from = from
	s.data(d)
	s.from = ""
}

func (s *socket) finish() { s.close() }

func (s *socket) abandon() {
	s.fail(errClosed)
	s.close()
}

func (s *socket) close() {
	if s.side.close() {
		delete(s.net.sockets, s.addr)
	}
}
