package conformance_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

// frames are the smallest sessions that mean anything: a length, then that
// many bytes.

func appendFrame(out, body []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	return append(out, body...)
}

// inbox collects a stream and gives out whole frames.
type inbox struct{ rest []byte }

func (b *inbox) add(in []byte) { b.rest = append(b.rest, in...) }

func (b *inbox) next() (body []byte, ok bool) {
	if len(b.rest) < 4 {
		return nil, false
	}
	n := 4 + int(binary.BigEndian.Uint32(b.rest))
	if len(b.rest) < n {
		return nil, false
	}
	body, b.rest = b.rest[4:n:n], b.rest[n:]
	return body, true
}

// frameServer echoes frames, each when it is whole.
type frameServer struct {
	inbox
	closed []error
	ended  bool
}

func (s *frameServer) Open(out []byte) ([]byte, error) { return out, nil }

func (s *frameServer) Data(in, out []byte) ([]byte, error) {
	s.add(in)
	for {
		body, ok := s.next()
		if !ok {
			return out, nil
		}
		out = appendFrame(out, body)
	}
}

func (s *frameServer) End(out []byte) ([]byte, error) {
	s.ended = true
	if len(s.rest) > 0 {
		return out, fmt.Errorf("the stream ends %d bytes into a frame", len(s.rest))
	}
	return out, nil
}

func (s *frameServer) Close(err error) { s.closed = append(s.closed, err) }

// frameClient sends all its frames at once and is done when all came back.
type frameClient struct {
	inbox
	send   [][]byte
	got    [][]byte
	calls  int
	closed []error
}

func (c *frameClient) Open(out []byte) ([]byte, error) {
	for _, body := range c.send {
		out = appendFrame(out, body)
	}
	return out, nil
}

func (c *frameClient) Data(in, out []byte) ([]byte, error) {
	c.calls++
	c.add(in)
	for {
		body, ok := c.next()
		if !ok {
			return out, nil
		}
		c.got = append(c.got, append([]byte(nil), body...))
		if len(c.got) == len(c.send) {
			return out, transport.ErrDone
		}
	}
}

func (c *frameClient) End(out []byte) ([]byte, error) {
	return out, errors.New("the peer ended before all frames were back")
}

func (c *frameClient) Close(err error) { c.closed = append(c.closed, err) }

// pair puts the two ends on one network.
func pair(t *testing.T, m *conformance.Memory, c transport.Config, server func() transport.Session, clients ...transport.Session) (listening, dialled transport.Group) {
	t.Helper()
	c.Clock = m.Clock
	g, err := m.Listen(c, server)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Dial(c, g.Addrs(), clients)
	if err != nil {
		t.Fatal(err)
	}
	return g, d
}

func run(t *testing.T, m *conformance.Memory, done func() bool) {
	t.Helper()
	if err := m.Run(done); err != nil {
		t.Fatal(err)
	}
}

// pattern is n bytes that depend on where they stand and on seed.
func pattern(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}
