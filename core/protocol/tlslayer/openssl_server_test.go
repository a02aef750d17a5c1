package tlslayer_test

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/transport"
)

// sServer is s_server with its output fed back to its input, which makes an
// echo. It serves one connection and lets the world know of it in between, in
// lines; it takes input that begins with a letter for a command.
type sServer struct {
	*program
	port string
	said chan []string // its lines, once it has ended
}

// mostPayload keeps 4 frames within one read of s_server's input, and one of
// them within what a pipe takes whole: input then always begins with a frame.
const (
	mostPayload = 4000 // bytes
	mostWindow  = 4
)

func (tr *trust) sServer(t *testing.T) *sServer {
	t.Helper()
	s := &sServer{program: tr.openssl(t, "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-tls1_3", "-cert", "cert.pem", "-key", "key.pem"),
		said: make(chan []string, 1)}
	for s.port == "" {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.wait()
			t.Fatalf("s_server does not say where it listens: %v\n%s", err, &s.stderr)
		}
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "ACCEPT 127.0.0.1:"); ok {
			s.port = at
		}
	}
	go s.feedBack()
	return s
}

// feedBack goes on until s_server ends. A frame begins with a zero, a line
// does not.
func (s *sServer) feedBack() {
	var lines []string
	defer func() { s.said <- lines }()
	for {
		head, err := s.out.Peek(1)
		if err != nil {
			return
		}
		if head[0] != 0 {
			line, _ := s.out.ReadString('\n')
			lines = append(lines, strings.TrimSpace(line))
			continue
		}
		head, err = s.out.Peek(4)
		if err != nil {
			return
		}
		b := make([]byte, 4+binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(s.out, b); err != nil {
			return
		}
		if _, err := s.in.Write(b); err != nil {
			return
		}
	}
}

// ended waits for the end of s_server and returns its lines.
func (s *sServer) ended() []string {
	s.t.Helper()
	select {
	case lines := <-s.said:
		if _, status := s.wait(); status != 0 {
			s.t.Errorf("s_server: exit status %d\n%s", status, &s.stderr)
		}
		return lines
	case <-time.After(patience):
		s.t.Fatal("s_server does not end")
		return nil
	}
}

// TestOpenSSLServer has a load check each echo, with tickets before and new keys
// between the first exchange and the plan.
func TestOpenSSLServer(t *testing.T) {
	tr := newTrust(t)
	for _, execution := range executions {
		for _, update := range []string{"", "k\n", "K\n"} {
			t.Run(execution+" "+strings.TrimSpace(update), func(t *testing.T) {
				s := tr.sServer(t)
				begin := time.Now()
				clock := func() int64 { return int64(time.Since(begin)) + 1 }
				l, err := load.New(load.Config{Protocol: tcp.Secure(), Payload: mostPayload, Clients: 1, Window: mostWindow, CheckAll: true, Clock: clock}, 1)
				if err != nil {
					t.Fatal(err)
				}
				g := dialLayer(t, s.port, l.Sessions(0)[0], tr.client, transport.Config{Execution: execution, Clock: clock})
				defer g.Close()
				awaitClosed(t, "the first exchange", l.Verified())
				s.wantMessage(sent, "NewSessionTicket")

				s.write([]byte(update))
				if update != "" {
					s.awaitMessage(sent, "KeyUpdate")
				}
				if update == "K\n" {
					s.awaitMessage(received, "KeyUpdate")
				}
				if err := l.Start([]control.Slice{{Length: int64(50 * time.Millisecond), Counted: true}}); err != nil {
					t.Fatal(err)
				}
				g.Wake()
				awaitClosed(t, "the last echo", l.Done())

				s.write([]byte("Q\n")) // it closes between two records, without a close_notify
				s.ended()
				await(t, "the end of the connection", func() bool { return g.Live() == 0 })
				wantAllWell(t, l)
			})
		}
	}
}

func awaitClosed(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}

func wantAllWell(t *testing.T, l *load.Load) {
	t.Helper()
	res, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	y := res.Targets[0]
	for key, n := range y.Counts {
		if n != 0 && key != control.CountSent && key != control.CountReceived && key != control.CountReads {
			t.Errorf("%s: %d, want 0; first errors %q", key, n, y.FirstErrors)
		}
	}
	if sent, received := y.Counts[control.CountSent], y.Counts[control.CountReceived]; sent == 0 || sent != received {
		t.Errorf("%d messages were sent, %d received", sent, received)
	}
}

func TestOpenSSLServerSeesTheEnd(t *testing.T) {
	tr := newTrust(t)
	s := tr.sServer(t)
	b := frame(pattern(mostPayload))
	ask, got := asker(b)
	if e := awaitEnding(t, dialSockets(t, s.port, ask, tr.client)); e.Err != nil {
		t.Errorf("the client was closed with %v", e.Err)
	}
	if !slices.Equal(*got, b) {
		t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
	}
	if lines := s.ended(); !slices.Contains(lines, "DONE") || slices.Contains(lines, "ERROR") {
		t.Errorf("s_server says %q, want DONE", lines)
	}
	s.wantMessage(received, "close_notify")
	s.wantMessage(sent, "close_notify")
}

func TestClientRefusesOpenSSLServer(t *testing.T) {
	tr := newTrust(t)
	elsewhere := tr.client.Clone()
	elsewhere.ServerName = "elsewhere"

	t.Run("name", func(t *testing.T) {
		s := tr.sServer(t)
		e := awaitEnding(t, dialSockets(t, s.port, &plain{}, elsewhere))
		if want := (x509.HostnameError{}); e.Opened || !errors.As(e.Err, &want) {
			t.Errorf("the client's session: %+v, want it never opened and a name refused", e)
		}
		s.ended()
		s.wantMessage(received, "fatal")
	})
	t.Run("authority", func(t *testing.T) {
		s := tr.sServer(t)
		e := awaitEnding(t, dialSockets(t, s.port, &plain{}, tr.stranger))
		if want := (x509.UnknownAuthorityError{}); e.Opened || !errors.As(e.Err, &want) {
			t.Errorf("the client's session: %+v, want it never opened and an authority refused", e)
		}
		s.ended()
		s.wantMessage(received, "fatal")
	})
}
