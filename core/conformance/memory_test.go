package conformance_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

func TestEveryCutGivesTheSameFrames(t *testing.T) {
	send := [][]byte{{}, []byte("a"), pattern(1, 30), pattern(2, 5), pattern(3, 61)}
	wire := 0
	for _, body := range send {
		wire += 4 + len(body)
	}
	for _, cut := range conformance.Cuts(wire) {
		t.Run(cut.Name, func(t *testing.T) {
			// A buffer smaller than the stream makes partial writes as well.
			m := conformance.NewMemory(conformance.Conditions{Cut: cut, Buffer: 20, Latency: 1000})
			server, client := &frameServer{}, &frameClient{send: send}
			pair(t, m, transport.Config{}, func() transport.Session { return server }, client)
			run(t, m, nil)
			if len(client.got) != len(send) {
				t.Fatalf("%d frames came back, want %d", len(client.got), len(send))
			}
			for i := range send {
				if !bytes.Equal(client.got[i], send[i]) {
					t.Errorf("frame %d is %q, want %q", i, client.got[i], send[i])
				}
			}
			for end, closed := range map[string][]error{"server": server.closed, "client": client.closed} {
				if len(closed) != 1 || closed[0] != nil {
					t.Errorf("the %s was closed with %v, want once with nil", end, closed)
				}
			}
		})
	}
}

// TestLargeWindowThroughSmallBuffers is the deadlock that comes of an end that
// waits for its own output: 16 MiB are on their way through 32 KiB.
func TestLargeWindowThroughSmallBuffers(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{Latency: 10_000})
	var send [][]byte
	for i := range 16 {
		send = append(send, pattern(i, 1<<20))
	}
	client := &frameClient{send: send}
	c := transport.Config{SendBuffer: 16 << 10, ReceiveBuffer: 16 << 10}
	pair(t, m, c, func() transport.Session { return &frameServer{} }, client)
	run(t, m, func() bool { return len(client.closed) > 0 })
	for i := range send {
		if !bytes.Equal(client.got[i], send[i]) {
			t.Errorf("message %d came back changed", i)
		}
	}
}

// script is a session of functions.
type script struct {
	open, end func(out []byte) ([]byte, error)
	data      func(in, out []byte) ([]byte, error)
	closed    []error
}

func (s *script) Open(out []byte) ([]byte, error) {
	if s.open == nil {
		return out, nil
	}
	return s.open(out)
}

func (s *script) Data(in, out []byte) ([]byte, error) {
	if s.data == nil {
		return out, nil
	}
	return s.data(in, out)
}

func (s *script) End(out []byte) ([]byte, error) {
	if s.end == nil {
		return out, nil
	}
	return s.end(out)
}

func (s *script) Close(err error) { s.closed = append(s.closed, err) }

// TestListeningEndPauses: the dialled end sends more than the buffers hold and
// reads nothing in effect, since what comes back fills them too.
func TestListeningEndPauses(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{Buffer: 100})
	calls := 0
	server := &script{data: func(in, out []byte) ([]byte, error) {
		calls++
		return append(out, make([]byte, 1000)...), nil
	}}
	var got int
	client := &script{
		open: func(out []byte) ([]byte, error) { return append(out, make([]byte, 1000)...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if got += len(in); got < 1000 && calls != 1 {
				t.Errorf("Data was called %d times with %d of 1000 bytes of output read", calls, got)
			}
			return out, nil
		},
	}
	pair(t, m, transport.Config{}, func() transport.Session { return server }, client)
	run(t, m, nil)
	if calls < 2 || got != 1000*calls {
		t.Errorf("the client got %d bytes for %d calls", got, calls)
	}
}

func TestErrorSendsThenLingersOneSecond(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	refuse := errors.New("refused")
	answer := pattern(1, 200_000)
	calls := 0
	server := &script{data: func(_, out []byte) ([]byte, error) {
		calls++
		return append(out, answer...), refuse
	}}
	var got []byte
	var at int64
	client := &script{
		open: func(out []byte) ([]byte, error) { return append(out, make([]byte, 500_000)...), nil },
		data: func(in, out []byte) ([]byte, error) {
			got = append(got, in...)
			at = m.Clock()
			return out, nil
		},
	}
	// The peer's end goes on sending, so that only the second ends it.
	client.end = func(out []byte) ([]byte, error) { return append(out, make([]byte, 1<<20)...), nil }
	g, _ := pair(t, m, transport.Config{}, func() transport.Session { return server }, client)
	run(t, m, func() bool { return len(server.closed) > 0 })
	if !bytes.Equal(got, answer) {
		t.Errorf("the client got %d bytes of the answer of %d", len(got), len(answer))
	}
	if calls != 1 {
		t.Errorf("Data was called %d times, also after its error", calls)
	}
	if server.closed[0] != refuse {
		t.Errorf("Close was given %v, want the session's error", server.closed[0])
	}
	if lingered := time.Duration(m.Clock() - at); lingered > time.Second || g.Live() != 0 {
		t.Errorf("closed %v after the last byte, %d live", lingered, g.Live())
	}
}

func TestSilentPeerIsLeftAfterOneSecond(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	server := &script{open: func(out []byte) ([]byte, error) { return out, transport.ErrDone }}
	g, err := m.Listen(transport.Config{}, func() transport.Session { return server })
	if err != nil {
		t.Fatal(err)
	}
	// The dialled end has output that nobody takes, so its side never ends.
	client := &script{end: func(out []byte) ([]byte, error) { return append(out, make([]byte, 10<<20)...), nil }}
	began := m.Clock()
	if _, err := m.Dial(transport.Config{SendBuffer: 1, ReceiveBuffer: 1}, g.Addrs(), []transport.Session{client}); err != nil {
		t.Fatal(err)
	}
	run(t, m, func() bool { return len(server.closed) > 0 })
	if got := time.Duration(m.Clock() - began); got > time.Second {
		t.Errorf("closed after %v, want 1 s at most", got)
	}
	if server.closed[0] != nil {
		t.Errorf("Close was given %v after ErrDone", server.closed[0])
	}
}

func TestDialRefused(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	s := &script{}
	g, err := m.Dial(transport.Config{}, []string{"127.0.0.1:9"}, []transport.Session{s})
	if err == nil || g != nil {
		t.Fatalf("Dial to nobody returned %v, %v", g, err)
	}
	if len(s.closed) != 1 || s.closed[0] == nil {
		t.Errorf("the session was closed with %v, want once with the error", s.closed)
	}
}

func TestGroupCloseEndsTheOtherSide(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{Latency: 1000})
	server, client := &frameServer{}, &frameClient{send: [][]byte{pattern(1, 10)}}
	g, d := pair(t, m, transport.Config{}, func() transport.Session { return server }, client)
	if g.Live() != 1 || d.Live() != 1 {
		t.Fatalf("%d and %d live after Dial, want 1 and 1", g.Live(), d.Live())
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if len(server.closed) != 1 || server.closed[0] == nil {
		t.Errorf("the server was closed with %v, want once with an error", server.closed)
	}
	run(t, m, nil)
	if len(client.closed) != 1 || client.closed[0] == nil {
		t.Errorf("the client was closed with %v, want once with an error", client.closed)
	}
	if _, err := m.Dial(transport.Config{}, g.Addrs(), nil); err != nil {
		t.Errorf("Dial of no session: %v", err)
	}
}

// TestFaultySessions: what breaks the contract is named, not tolerated.
func TestFaultySessions(t *testing.T) {
	var kept []byte
	for name, c := range map[string]struct {
		server *script
		want   string
	}{
		"drops what out held": {
			&script{data: func(in, _ []byte) ([]byte, error) { return append([]byte(nil), in...), nil }},
			"does not begin with what out already held",
		},
		"waits for what never comes": {
			&script{},
			"nothing is left to happen",
		},
		"keeps what was lent": {
			&script{data: func(in, out []byte) ([]byte, error) {
				if kept == nil {
					kept = in
				}
				return append(out, kept...), nil
			}},
			"changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := conformance.NewMemory(conformance.Conditions{})
			trips := 0
			client := &script{
				open: func(out []byte) ([]byte, error) { return append(out, '.'), nil },
				data: func(in, out []byte) ([]byte, error) {
					if string(in) != "." {
						return out, errors.New("the echo came back changed")
					}
					trips++
					return append(out, '.'), nil
				},
			}
			pair(t, m, transport.Config{}, func() transport.Session { return c.server }, client)
			err := m.Run(func() bool { return trips == 100 || len(client.closed) > 0 })
			if err == nil && len(client.closed) > 0 {
				err = client.closed[0]
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q in it", err, c.want)
			}
		})
	}
}
