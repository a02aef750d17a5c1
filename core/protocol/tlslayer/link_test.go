package tlslayer_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// link drives two layers by hand, what the one returns going into the other.
type link struct {
	t              testing.TB
	server, client tlslayer.Session
	up, down       []byte // buffers, to allocate nothing
}

// open completes the handshake, which the client begins.
func (l *link) open() {
	l.t.Helper()
	_, err := l.server.Open(nil)
	l.must(err)
	l.up, err = l.client.Open(nil)
	l.must(err)
	for len(l.up) > 0 {
		l.down, err = l.server.Data(l.up, l.down[:0])
		l.must(err)
		if l.up = l.up[:0]; len(l.down) > 0 {
			l.up, err = l.client.Data(l.down, l.up)
			l.must(err)
		}
	}
}

func (l *link) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func newLink(t testing.TB, server, client transport.Session) *link {
	serverConfig, clientConfig := configs(t)
	l := &link{t: t, server: tlslayer.Server(server, serverConfig), client: tlslayer.Client(client, clientConfig)}
	l.open()
	return l
}

// speaker says b whenever it is woken.
type speaker struct {
	*plain
	b []byte
}

func (s *speaker) Wake(out []byte) ([]byte, int64, error) { return append(out, s.b...), 0, nil }

// TestBurstOfRecords: ten records in one read are answered in one call, since
// no other event will come for those left behind.
func TestBurstOfRecords(t *testing.T) {
	var got []byte
	client := &speaker{&plain{data: func(in, out []byte) ([]byte, error) {
		got = append(got, in...)
		return out, nil
	}}, pattern(100)}
	l := newLink(t, &plain{data: echo}, client)
	got = nil
	var up []byte
	for range 10 {
		var err error
		up, _, err = l.client.(transport.Waker).Wake(up)
		l.must(err)
	}
	down, err := l.server.Data(up, nil)
	l.must(err)
	_, err = l.client.Data(down, nil)
	l.must(err)
	if want := bytes.Repeat(pattern(100), 10); !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, want %d, the same", len(got), len(want))
	}
}

// TestAllocations: crypto/tls allocates one small reader each time it looks for
// a record, twice for a call that brings one. Nothing is added to that.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	client := &speaker{&plain{}, pattern(1000)}
	l := newLink(t, &plain{data: echo}, client)
	before := client.calls
	allocs := testing.AllocsPerRun(200, func() {
		var err error
		l.up, _, err = l.client.(transport.Waker).Wake(l.up[:0])
		l.must(err)
		l.down, err = l.server.Data(l.up, l.down[:0])
		l.must(err)
		l.up, err = l.client.Data(l.down, l.up[:0])
		l.must(err)
	})
	if client.calls-before < 200 {
		t.Fatalf("%d echoes came back", client.calls-before)
	}
	if most := 4.0; allocs > most {
		t.Errorf("%v allocations a round trip, want %v at most", allocs, most)
	}
}

// TestTruncation: the end of the stream is told from an end that somebody cut.
func TestTruncation(t *testing.T) {
	half := errors.New("the stream ends within a message")
	for _, c := range []struct {
		name  string
		cut   int // bytes of the last record that do not arrive
		ended int
		want  error
	}{
		{"between records", 0, 1, half},
		{"within a record", 10, 0, io.ErrUnexpectedEOF},
		{"within a header", 1000 + 20, 0, io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &plain{end: func(out []byte) ([]byte, error) { return out, half }}
			client := &speaker{&plain{}, pattern(1000)}
			l := newLink(t, server, client)
			record, _, err := l.client.(transport.Waker).Wake(nil)
			l.must(err)
			if _, err := l.server.Data(record[:len(record)-c.cut], nil); err != nil {
				t.Fatal(err)
			}
			if _, err := l.server.End(nil); !errors.Is(err, c.want) {
				t.Errorf("End returned %v, want %v", err, c.want)
			}
			if server.ended != c.ended {
				t.Errorf("the session inside had %d ends, want %d", server.ended, c.ended)
			}
		})
	}
}

// TestForeignServer: crypto/tls over a pipe without any buffer, with session
// tickets, which a server writes before it reads what the client has to say.
func TestForeignServer(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	near, far := net.Pipe()
	b := pattern(100_000)
	done := make(chan error, 1)
	go func() {
		c := tls.Server(far, serverConfig)
		got := make([]byte, len(b))
		_, err := io.ReadFull(c, got)
		if err == nil && !bytes.Equal(got, b) {
			err = errors.New("the server got other bytes")
		}
		if err == nil {
			_, err = c.Write(got)
		}
		c.Close()
		done <- err
	}()
	ask, got := asker(b)
	if err := overConn(near, tlslayer.Client(ask, clientConfig)); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the server: %v", err)
	}
	if !bytes.Equal(*got, b) {
		t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
	}
}

// overConn is a runtime of one session on one connection that has no buffer:
// it writes beside reading.
func overConn(c net.Conn, s transport.Session) error {
	defer c.Close()
	writes := make(chan []byte, 1000)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for b := range writes {
			c.Write(b) // its error shows in what the session sees
		}
	}()
	out, err := s.Open(nil)
	buf := make([]byte, 1000)
	for err == nil {
		writes <- out
		n, rerr := c.Read(buf)
		if rerr != nil {
			out, err = s.End(nil)
			break
		}
		out, err = s.Data(buf[:n], nil)
	}
	writes <- out
	close(writes)
	if errors.Is(err, transport.ErrDone) {
		err = nil
	}
	s.Close(err)
	c.Close()
	<-written
	return err
}

// FuzzServer: whatever a peer sends, in whatever pieces, the layer answers with
// an error and leaves no handshake behind.
func FuzzServer(f *testing.F) {
	serverConfig, clientConfig := configs(f)
	c := tlslayer.Client(&plain{}, clientConfig)
	hello, err := c.Open(nil)
	if err != nil {
		f.Fatal(err)
	}
	c.Close(nil)
	f.Add(hello, uint16(1))
	f.Add(hello[:len(hello)/2], uint16(7))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		inside := &plain{}
		s := tlslayer.Server(inside, serverConfig)
		_, err := s.Open(nil)
		for err == nil && len(in) > 0 {
			n := min(len(in), int(cut)+1)
			_, err = s.Data(append([]byte(nil), in[:n]...), nil)
			in = in[n:]
		}
		if err == nil {
			_, err = s.End(nil)
		}
		if err == nil {
			t.Error("a handshake without its other half ended well")
		}
		s.Close(err)
		if inside.opened != 0 || len(inside.closed) != 1 {
			t.Errorf("the session inside was opened %d and closed %d times", inside.opened, len(inside.closed))
		}
	})
}
