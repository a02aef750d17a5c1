package stdnet

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// fake is a session made of the functions a test cares about.
type fake struct {
	open   func(out []byte) ([]byte, error)
	data   func(in, out []byte) ([]byte, error)
	closed chan error // receives each Close; nil: nobody looks
}

func (f *fake) Open(out []byte) ([]byte, error) {
	if f.open == nil {
		return out, nil
	}
	return f.open(out)
}

func (f *fake) Data(in, out []byte) ([]byte, error) {
	if f.data == nil {
		return append(out, in...), nil
	}
	return f.data(in, out)
}

func (f *fake) End(out []byte) ([]byte, error) { return out, nil }

func (f *fake) Close(err error) {
	if f.closed != nil {
		f.closed <- err
	}
}

// waking is a fake that is a Waker too.
type waking struct {
	fake
	wake func(out []byte) ([]byte, int64, error)
}

func (w *waking) Wake(out []byte) ([]byte, int64, error) { return w.wake(out) }

func listenWith(t testing.TB, c transport.Config, session func() transport.Session) string {
	t.Helper()
	g, err := New().Listen(c, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g.Addrs()[0]
}

func dialWith(t testing.TB, c transport.Config, addr string, s ...transport.Session) {
	t.Helper()
	g, err := New().Dial(c, []string{addr}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("no %s within 10 s", what)
		panic("unreachable")
	}
}

func TestAnswersInPlaceDoNotOverwriteInput(t *testing.T) {
	// Every other answer is a slice of the input. Were it kept as the output
	// buffer, the next answer would be written over its own input.
	addr := listenWith(t, transport.Config{}, func() transport.Session {
		calls := 0
		return &fake{data: func(in, out []byte) ([]byte, error) {
			if calls++; calls%2 == 1 {
				return in, nil
			}
			out = append(out, "answer "...)
			return append(out, in...), nil
		}}
	})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for i := range 4 {
		if _, err := nc.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		want := "hello"
		if i%2 == 1 {
			want = "answer hello"
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(nc, got); err != nil || string(got) != want {
			t.Fatalf("answer %d is %q, %v; want %q", i, got, err, want)
		}
	}
}

// The session ends with all of its output still to be sent.
func TestLastOutputIsSentBehindABlockedWrite(t *testing.T) {
	const total = 4 << 20
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	closed := make(chan error, 1)
	dialWith(t, transport.Config{SendBuffer: 64 << 10}, ln.Addr().String(), &fake{
		closed: closed,
		open: func(out []byte) ([]byte, error) {
			return append(out, make([]byte, total)...), transport.ErrDone
		},
	})
	nc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if n, err := io.Copy(io.Discard, nc); n != total || err != nil {
		t.Errorf("read %d bytes, then %v; want %d and the end", n, err, total)
	}
	nc.Close()
	if err := receive(t, "Close", closed); err != nil {
		t.Errorf("closed with %v", err)
	}
}

func TestLateSessionStillGetsItsInput(t *testing.T) {
	addr := listenWith(t, transport.Config{}, func() transport.Session { return new(fake) })
	closed := make(chan error, 1)
	dialWith(t, transport.Config{}, addr, &waking{
		fake: fake{
			closed: closed,
			open:   func(out []byte) ([]byte, error) { return append(out, "ping"...), nil },
			data:   func(in, out []byte) ([]byte, error) { return out, transport.ErrDone },
		},
		wake: func(out []byte) ([]byte, int64, error) { return out, 1, nil }, // always overdue
	})
	if err := receive(t, "Close", closed); err != nil {
		t.Error(err)
	}
}

func TestRefusesWhatItLacks(t *testing.T) {
	tests := map[string]transport.Config{
		"goroutine": {Execution: "goroutine"},
		"sharded":   {IOModel: "sharded", Threads: 2},
		"unix":      {Network: "unix"},
	}
	for word, c := range tests {
		if _, err := New().Listen(c, nil); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("Listen with %s: %v", word, err)
		}
		if _, err := New().Dial(c, nil, nil); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("Dial with %s: %v", word, err)
		}
	}
	if _, err := New().Dial(transport.Config{Busy: true}, nil, nil); err == nil {
		t.Error("Dial promises to poll without sleeping")
	}
}

func BenchmarkEcho(b *testing.B) {
	addr := listenWith(b, transport.Config{}, func() transport.Session { return new(fake) })
	message := make([]byte, 1024)
	left, got := b.N, 0
	closed := make(chan error, 1)
	b.ReportAllocs()
	b.SetBytes(int64(len(message)))
	dialWith(b, transport.Config{}, addr, &fake{
		closed: closed,
		open:   func(out []byte) ([]byte, error) { return append(out, message...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if got += len(in); got < len(message) {
				return out, nil
			}
			got = 0
			if left--; left == 0 {
				return out, transport.ErrDone
			}
			return append(out, message...), nil
		},
	})
	if err := receive(b, "Close", closed); err != nil {
		b.Fatal(err)
	}
}
