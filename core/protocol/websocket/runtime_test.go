package websocket_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/authority"
	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// patience bounds every wait of a test for something that should come at once.
const patience = 20 * time.Second

const ms = int64(time.Millisecond)

func newLoad(t *testing.T, cfg load.Config) *load.Load {
	t.Helper()
	cfg.CheckAll = true
	l, err := load.New(cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantAllWell holds a result to every message having come back as it was sent,
// and says how many were.
func wantAllWell(t *testing.T, l *load.Load) (sent int64) {
	t.Helper()
	res, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	counts := maps.Clone(res.Targets[0].Counts)
	sent, received := counts[control.CountSent], counts[control.CountReceived]
	for _, key := range []string{control.CountSent, control.CountReceived, control.CountReads} {
		delete(counts, key)
	}
	for _, n := range counts {
		if n != 0 {
			t.Errorf("counts %v; first errors %q", counts, res.Targets[0].FirstErrors)
			break
		}
	}
	if sent != received {
		t.Errorf("%d messages were sent, %d received", sent, received)
	}
	return sent
}

// secured puts TLS around the sessions of both ends.
func secured(t *testing.T) (server, client func(transport.Session) transport.Session) {
	t.Helper()
	certs, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certs.Cert, certs.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certs.CA)
	server = func(s transport.Session) transport.Session {
		return tlslayer.Server(s, &tls.Config{Certificates: []tls.Certificate{pair}})
	}
	client = func(s transport.Session) transport.Session {
		return tlslayer.Client(s, &tls.Config{RootCAs: roots, ServerName: control.ServerName})
	}
	return server, client
}

// Echo and load talk through memory, cut in every way.
func TestEchoAndLoad(t *testing.T) {
	server, client := secured(t)
	plain := func(s transport.Session) transport.Session { return s }
	for _, tc := range []struct {
		p              protocol.Protocol
		server, client func(transport.Session) transport.Session
	}{{websocket.Protocol(), plain, plain}, {websocket.Secure(), server, client}} {
		for _, cut := range []conformance.Cut{conformance.Whole(), conformance.Glued(), conformance.Bytes(), conformance.Random(), conformance.At(100), conformance.At(160)} {
			for _, payload := range []int{16, 125, 126, 700} {
				t.Run(fmt.Sprintf("%s %s %d", tc.p.Name, cut.Name, payload), func(t *testing.T) {
					m := conformance.NewMemory(conformance.Conditions{Cut: cut, Latency: 20_000, Buffer: 500})
					l := newLoad(t, load.Config{Protocol: tc.p, Payload: payload, Clients: 3, Window: 4, Work: 10, Clock: m.Clock})
					s := echo.NewServer(echo.Config{Protocol: tc.p, Work: 10})
					g, err := m.Listen(transport.Config{Clock: m.Clock}, func() transport.Session { return tc.server(s.Session()) })
					if err != nil {
						t.Fatal(err)
					}
					sessions := l.Sessions(0)
					for i := range sessions {
						sessions[i] = tc.client(sessions[i])
					}
					d, err := m.Dial(transport.Config{Clock: m.Clock}, g.Addrs(), sessions)
					if err != nil {
						t.Fatal(err)
					}
					run(t, m, l.Verified())
					if err := l.Start([]control.Slice{{Length: ms / 4, Counted: true}}); err != nil {
						t.Fatal(err)
					}
					d.Wake()
					run(t, m, l.Done())
					if wantAllWell(t, l) == 0 {
						t.Error("nothing was sent")
					}
					d.Close()
					g.Close()
				})
			}
		}
	}
}

// A close ends an echo session well, a fault does not; of both the peer is told.
func TestEndsOfEcho(t *testing.T) {
	for _, tc := range []struct {
		last piece
		said string
		want error
	}{
		{closing(1001, "bye"), "[text 16 bytes or more close 1001]", transport.ErrDone},
		{whole(pong, strings.Repeat("x", 126)), "[text 16 bytes or more close 1002]", protocol.ErrMalformed},
	} {
		s := echo.NewServer(echo.Config{Protocol: websocket.Protocol()}).Session()
		in := append([]byte(request), stream([]piece{whole(text, "16 bytes or more"), tc.last}, true)...)
		out, err := s.Data(in, nil)
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", tc.said, err, tc.want)
		}
		frames, ok := bytes.CutPrefix(out, []byte(granted))
		if got := fmt.Sprint(said(t, frames, false, nil)); !ok || got != tc.said {
			t.Errorf("granted %t, then %s; want %s", ok, got, tc.said)
		}
	}
}

func run(t *testing.T, m *conformance.Memory, until <-chan struct{}) {
	t.Helper()
	if err := m.Run(func() bool { return isClosed(until) }); err != nil {
		t.Fatal(err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// serve listens with an echo server on a real runtime.
func serve(t *testing.T, c transport.Config) (addr string) {
	t.Helper()
	s := echo.NewServer(echo.Config{Protocol: websocket.Protocol()})
	g, err := rawpoll.New().Listen(c, s.Session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g.Addrs()[0]
}

// clients is how many connections dial opens.
const clients = 2

// dial connects a load through a real runtime and sees its first exchanges.
func dial(t *testing.T, addr string, payload int) (*load.Load, transport.Group) {
	t.Helper()
	begin := time.Now()
	clock := func() int64 { return int64(time.Since(begin)) + 1 }
	l := newLoad(t, load.Config{Protocol: websocket.Protocol(), Payload: payload, Clients: clients, Window: 4, Clock: clock})
	d, err := rawpoll.New().Dial(transport.Config{Clock: clock}, []string{addr}, l.Sessions(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	wait(t, "the first exchange", l.Verified())
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return l, d
}

// measure has a load talk to a server for a while, which on a busy machine may
// be too short for more than the first exchange.
func measure(t *testing.T, addr string, payload int) (sent int64) {
	t.Helper()
	l, d := dial(t, addr, payload)
	if err := l.Start([]control.Slice{{Length: 30 * ms, Counted: true}}); err != nil {
		t.Fatal(err)
	}
	d.Wake()
	wait(t, "the last echo", l.Done())
	d.Close()
	return wantAllWell(t, l)
}

func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}
