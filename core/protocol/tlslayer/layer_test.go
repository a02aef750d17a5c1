package tlslayer_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// plain is a session of functions and what happened to it.
type plain struct {
	open, end func(out []byte) ([]byte, error)
	data      func(in, out []byte) ([]byte, error)
	opened    int
	ended     int
	calls     int
	closed    []error
}

func (p *plain) Open(out []byte) ([]byte, error) {
	p.opened++
	if p.open == nil {
		return out, nil
	}
	return p.open(out)
}

func (p *plain) Data(in, out []byte) ([]byte, error) {
	p.calls++
	if p.data == nil {
		return out, nil
	}
	return p.data(in, out)
}

func (p *plain) End(out []byte) ([]byte, error) {
	p.ended++
	if p.end == nil {
		return out, nil
	}
	return p.end(out)
}

func (p *plain) Close(err error) { p.closed = append(p.closed, err) }

func echo(in, out []byte) ([]byte, error) { return append(out, in...), nil }

// asker sends b and is done when all of it has come back.
func asker(b []byte) (*plain, *[]byte) {
	got := new([]byte)
	return &plain{
		open: func(out []byte) ([]byte, error) { return append(out, b...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if *got = append(*got, in...); len(*got) >= len(b) {
				return out, transport.ErrDone
			}
			return out, nil
		},
	}, got
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*13 + i>>8)
	}
	return b
}

// connect puts one TLS connection on a network in memory.
func connect(t *testing.T, under conformance.Conditions, server, client transport.Session) *conformance.Memory {
	t.Helper()
	m := conformance.NewMemory(under)
	c := transport.Config{Clock: m.Clock}
	g, err := m.Listen(c, func() transport.Session { return server })
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Dial(c, g.Addrs(), []transport.Session{client})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		g.Close()
	})
	return m
}

func wantClosed(t *testing.T, end string, p *plain, ok func(error) bool) {
	t.Helper()
	if len(p.closed) != 1 || !ok(p.closed[0]) {
		t.Errorf("the %s was closed with %v", end, p.closed)
	}
}

func well(err error) bool { return err == nil }
func ill(err error) bool  { return err != nil }

func TestEchoInEveryCut(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	b := pattern(3000)
	cuts := conformance.Cuts(2600) // past the handshake and into the records
	if testing.Short() || raceEnabled {
		cuts = cuts[:200]
	}
	for _, cut := range cuts {
		ask, got := asker(b)
		server := &plain{data: echo}
		s, c := tlslayer.Server(server, serverConfig), tlslayer.Client(ask, clientConfig)
		m := connect(t, conformance.Conditions{Cut: cut, Buffer: 700}, s, c)
		if err := m.Run(nil); err != nil {
			t.Fatalf("%s: %v", cut.Name, err)
		}
		if !bytes.Equal(*got, b) {
			t.Errorf("%s: %d bytes came back, want %d, the same", cut.Name, len(*got), len(b))
		}
		wantClosed(t, "server", server, well)
		wantClosed(t, "client", ask, well)
		if server.opened != 1 || server.ended != 1 || ask.opened != 1 {
			t.Errorf("%s: opened %d and %d times, ended %d", cut.Name, server.opened, ask.opened, server.ended)
		}
	}
}

func TestLargeEchoThroughSmallBuffers(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	b := pattern(4 << 20)
	ask, got := asker(b)
	m := connect(t, conformance.Conditions{Latency: 1000},
		tlslayer.Server(&plain{data: echo}, serverConfig), tlslayer.Client(ask, clientConfig))
	if err := m.Run(func() bool { return len(ask.closed) > 0 }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(*got, b) {
		t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
	}
}

func TestAnswerInPlace(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	b := pattern(200_000)
	ask, got := asker(b)
	server := &plain{data: func(in, out []byte) ([]byte, error) {
		if len(out) > 0 {
			t.Error("out is not empty, no answer can be given in place")
		}
		return in, nil
	}}
	m := connect(t, conformance.Conditions{}, tlslayer.Server(server, serverConfig), tlslayer.Client(ask, clientConfig))
	if err := m.Run(func() bool { return len(ask.closed) > 0 }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(*got, b) {
		t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
	}
}

func TestWakeComesOnlyWhenOpen(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	w := &waker{plain: &plain{}, t: t}
	server := &plain{data: echo}
	m := conformance.NewMemory(conformance.Conditions{Latency: 1000})
	w.clock = m.Clock
	g, err := m.Listen(transport.Config{}, func() transport.Session { return tlslayer.Server(server, serverConfig) })
	if err != nil {
		t.Fatal(err)
	}
	session := tlslayer.Client(w, clientConfig)
	d, err := m.Dial(transport.Config{}, g.Addrs(), []transport.Session{session})
	if err != nil {
		t.Fatal(err)
	}
	d.Wake() // during the handshake: it must not reach the session inside
	if err := m.Run(func() bool { return w.wakes == 1 }); err != nil {
		t.Fatal(err)
	}
	d.Wake()
	if err := m.Run(func() bool { return w.wakes == 4 }); err != nil {
		t.Fatal(err)
	}
	d.Close()
	g.Close()
}

type waker struct {
	*plain
	t     *testing.T
	clock func() int64
	wakes int
	next  int64
}

func (w *waker) Wake(out []byte) ([]byte, int64, error) {
	if w.opened == 0 {
		w.t.Error("Wake came before Open")
	}
	if w.clock() < w.next {
		w.t.Errorf("Wake came at %d, %d was asked for", w.clock(), w.next)
	}
	w.wakes++
	if w.wakes > 1 {
		w.next = w.clock() + 1_000_000
	}
	return append(out, "."...), w.next, nil
}

func TestLastWordsComeBeforeTheEnd(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	server := &plain{data: func(_, out []byte) ([]byte, error) { return append(out, "bye"...), transport.ErrDone }}
	var got []byte
	client := &plain{
		open: func(out []byte) ([]byte, error) { return append(out, '?'), nil },
		data: func(in, out []byte) ([]byte, error) {
			got = append(got, in...)
			return out, nil
		},
	}
	// Glued: the last record and the close_notify arrive as one.
	m := connect(t, conformance.Conditions{Cut: conformance.Glued()},
		tlslayer.Server(server, serverConfig), tlslayer.Client(client, clientConfig))
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	if string(got) != "bye" || client.ended != 1 {
		t.Errorf("the client got %q and %d ends", got, client.ended)
	}
	wantClosed(t, "client", client, well)
	wantClosed(t, "server", server, well)
}

func TestErrorInsideGoesThrough(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	refused := errors.New("refused")
	server := &plain{data: func(_, out []byte) ([]byte, error) { return append(out, "why"...), refused }}
	ask, got := asker([]byte("a question"))
	m := connect(t, conformance.Conditions{},
		tlslayer.Server(server, serverConfig), tlslayer.Client(ask, clientConfig))
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	if string(*got) != "why" || ask.ended != 1 {
		t.Errorf("the client got %q and %d ends", *got, ask.ended)
	}
	wantClosed(t, "server", server, func(err error) bool { return errors.Is(err, refused) })
}

func TestUntrustedCertificate(t *testing.T) {
	before := runtime.NumGoroutine()
	serverConfig, _ := configs(t)
	_, clientConfig := configs(t) // of another authority
	server, client := &plain{}, &plain{}
	m := connect(t, conformance.Conditions{},
		tlslayer.Server(server, serverConfig), tlslayer.Client(client, clientConfig))
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, "client", client, func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "tls handshake: ")
	})
	wantClosed(t, "server", server, ill)
	if client.opened != 0 {
		t.Error("the client was opened without a handshake")
	}
	wantGoroutines(t, before)
}

// TestCloseInHandshake: a handshake that never ends leaves no goroutine.
func TestCloseInHandshake(t *testing.T) {
	before := runtime.NumGoroutine()
	serverConfig, clientConfig := configs(t)
	for _, end := range []func(transport.Session) transport.Session{
		func(s transport.Session) transport.Session { return tlslayer.Server(s, serverConfig) },
		func(s transport.Session) transport.Session { return tlslayer.Client(s, clientConfig) },
	} {
		inside := &plain{}
		s := end(inside)
		if _, err := s.Open(nil); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("gone")
		s.Close(gone)
		wantClosed(t, "session", inside, func(err error) bool { return err == gone })
	}
	inside := &plain{}
	tlslayer.Server(inside, serverConfig).Close(io.EOF) // never opened
	wantClosed(t, "session", inside, ill)
	wantGoroutines(t, before)
}

func wantGoroutines(t *testing.T, most int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > most; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), most)
		}
	}
}

func TestState(t *testing.T) {
	serverConfig, clientConfig := configs(t)
	ask, _ := asker([]byte("x"))
	s, c := tlslayer.Server(&plain{data: echo}, serverConfig), tlslayer.Client(ask, clientConfig)
	m := connect(t, conformance.Conditions{}, s, c)
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	for end, state := range map[string]string{
		"server": tlslayer.Describe(s.State()),
		"client": tlslayer.Describe(c.State()),
	} {
		if !strings.HasPrefix(state, "TLS 1.3, TLS_") || !strings.HasSuffix(state, ", X25519") {
			t.Errorf("the %s negotiated %q", end, state)
		}
	}
}
