package tlslayer_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	echoserver "github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// serveSockets listens for one connection at a time with a session under TLS.
func (tr *trust) serveSockets(t *testing.T, execution string, inner func() transport.Session) (port string, closed <-chan ending) {
	t.Helper()
	ends := make(chan ending, 1)
	g, err := rawpoll.New().Listen(transport.Config{Execution: execution}, func() transport.Session {
		return tlslayer.Server(&watched{Session: inner(), closed: ends}, tr.server)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	_, port, err = net.SplitHostPort(g.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	return port, ends
}

func echoSession() transport.Session {
	return echoserver.NewServer(echoserver.Config{Protocol: tcp.Secure()}).Session()
}

// sClient starts s_client, which verifies whom it talks to. Its standard input
// and output are the connection's, and the end of its input ends it.
func (tr *trust) sClient(t *testing.T, port string, args ...string) *program {
	t.Helper()
	return tr.openssl(t, "s_client", append([]string{"-connect", "127.0.0.1:" + port, "-quiet", "-no_ign_eof",
		"-servername", "localhost", "-verify_hostname", "localhost", "-verify_return_error", "-CAfile", "ca.pem", "-min_protocol", "TLSv1.3"}, args...)...)
}

// wantEcho writes b to s_client and holds the server to sending it back.
func (p *program) wantEcho(b []byte) {
	p.t.Helper()
	p.write(b)
	got := make([]byte, len(b))
	if n, err := io.ReadFull(p.out, got); err != nil || !bytes.Equal(got, b) {
		p.t.Fatalf("%d bytes: %d came back, the same: %t, error %v\n%s", len(b), n, bytes.Equal(got, b), err, &p.stderr)
	}
}

func TestOpenSSLClient(t *testing.T) {
	tr := newTrust(t)
	for _, execution := range executions {
		t.Run(execution+" echo", func(t *testing.T) {
			port, closed := tr.serveSockets(t, execution, echoSession)
			p := tr.sClient(t, port, "-nocommands") // no content is a command
			for _, n := range []int{1, 16, 1024, 16379, 16380, 16381, 50000} {
				p.wantEcho(frame(pattern(n)))
			}
			p.wantEcho(bytes.Repeat(frame(pattern(100)), 20))
			p.in.Close()
			p.wantEnd(0, "")
			p.wantMessage(sent, "close_notify")
			if e := awaitEnding(t, closed); !e.Ended || e.Err != nil {
				t.Errorf("the server's session: %+v, want its End and no error", e)
			}
		})
		t.Run(execution+" key update", func(t *testing.T) {
			port, closed := tr.serveSockets(t, execution, echoSession)
			p := tr.sClient(t, port)
			p.wantEcho(frame([]byte("before")))
			p.write([]byte("k\n")) // new keys for what it sends
			p.awaitMessage(sent, "KeyUpdate")
			p.wantEcho(frame([]byte("between")))
			p.write([]byte("K\n")) // and for what it receives
			p.awaitMessage(received, "KeyUpdate")
			p.wantEcho(frame(pattern(5000)))
			p.in.Close()
			p.wantEnd(0, "")
			if n := p.count(received, "KeyUpdate"); n != 1 {
				t.Errorf("the server updated %d times, want once: one of two updates asked for it", n)
			}
			if e := awaitEnding(t, closed); !e.Ended || e.Err != nil {
				t.Errorf("the server's session: %+v, want its End and no error", e)
			}
		})
		t.Run(execution+" closed by the server", func(t *testing.T) {
			port, closed := tr.serveSockets(t, execution, func() transport.Session {
				return &plain{data: func(in, out []byte) ([]byte, error) { return append(out, in...), transport.ErrDone }}
			})
			p := tr.sClient(t, port, "-nocommands")
			p.wantEcho([]byte("and no more"))
			p.wantEnd(0, "") // though its input goes on
			p.wantMessage(received, "close_notify")
			if e := awaitEnding(t, closed); e.Err != nil {
				t.Errorf("the server's session was closed with %v", e.Err)
			}
		})
	}
}

// What is refused, by either end, never gets to the session.
//
// Note: a client of OpenSSL says in the clear why it refuses a certificate, when
// crypto/tls expects encrypted records only and finds a bad MAC.
func TestOpenSSLClientRefuses(t *testing.T) {
	tr := newTrust(t)
	for name, tc := range map[string]struct {
		args      []string // the last of an option counts
		complaint string
		err       string // the server's
	}{
		"name":      {[]string{"-verify_hostname", "elsewhere"}, "verify error:num=62:", "tls handshake: "},
		"authority": {[]string{"-CAfile", "other.pem"}, "verify error:num=", "tls handshake: "},
		"version":   {[]string{"-min_protocol", "TLSv1.2", "-max_protocol", "TLSv1.2"}, "alert protocol version", "tls: client offered only unsupported versions"},
	} {
		t.Run(name, func(t *testing.T) {
			port, closed := tr.serveSockets(t, "callback", echoSession)
			p := tr.sClient(t, port, tc.args...)
			p.wantEnd(1, tc.complaint)
			if e := awaitEnding(t, closed); e.Opened || e.Err == nil || !strings.Contains(e.Err.Error(), tc.err) {
				t.Errorf("the server's session: %+v, want it never opened and %q", e, tc.err)
			}
		})
	}
}
