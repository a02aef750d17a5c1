package http1_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// TestClientOfNetHTTP has net/http's client talk to this package's server. All
// requests travel on one connection until one is refused.
func TestClientOfNetHTTP(t *testing.T) {
	for _, p := range []protocol.Protocol{http1.Protocol(), http1.Secure()} {
		t.Run(p.Name, func(t *testing.T) {
			lender := httptest.NewTLSServer(nil) // of a certificate and a client that trusts it
			t.Cleanup(lender.Close)
			server := echo.NewServer(echo.Config{Protocol: p})
			session := server.Session
			if p.TLS {
				session = func() transport.Session { return tlslayer.Server(server.Session(), lender.TLS) }
			}
			url := p.Name + "://" + serveSockets(t, transport.Config{}, session) + "/echo"
			client := lender.Client()
			client.Timeout = patience
			transport := client.Transport.(*http.Transport)
			transport.ForceAttemptHTTP2, transport.TLSClientConfig.NextProtos = false, nil
			transport.ExpectContinueTimeout = patience // a 100 has to come: nothing is sent before it

			for _, n := range []int{0, 1, 15, 16, 1024, 1 << 20} {
				body := bytes.Repeat([]byte{'x'}, n)
				wantEcho(t, client, url, body, nil)
				wantEcho(t, client, url, body, func(r *http.Request) { r.Header.Set("Expect", "100-continue") })
				wantEcho(t, client, url, body, func(r *http.Request) {
					r.ContentLength = -1 // unknown: in chunks
					r.Trailer = http.Header{"X-Sum": {"1"}}
				})
			}
			if got := server.Counts().Opened; got != 1 {
				t.Errorf("%d connections were made for good requests, want 1", got)
			}
			for target, want := range map[string]int{"/echo": 405, "/": 404} {
				for _, method := range []string{"GET", "HEAD"} {
					r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(url, "/echo")+target, nil)
					if err != nil {
						t.Fatal(err)
					}
					resp, err := client.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					if resp.StatusCode != want || !resp.Close {
						t.Errorf("%s %s: status %d, closing %t; want %d, true", method, target, resp.StatusCode, resp.Close, want)
					}
				}
			}
		})
	}
}

func wantEcho(t *testing.T, c *http.Client, url string, body []byte, change func(*http.Request)) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(body), err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !bytes.Equal(got, body) {
		t.Fatalf("%d bytes: status %d, %d bytes back, error %v", len(body), resp.StatusCode, len(got), err)
	}
}

// TestServerOfNetHTTP has the load talk to a server of net/http, which tells
// the length of its answers or sends them in chunks.
func TestServerOfNetHTTP(t *testing.T) {
	for _, p := range []protocol.Protocol{http1.Protocol(), http1.Secure()} {
		for _, inChunks := range []bool{false, true} {
			t.Run(p.Name+" chunks "+strconv.FormatBool(inChunks), func(t *testing.T) {
				mux := http.NewServeMux()
				mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if inChunks {
						w.Write(body[:1])
						w.(http.Flusher).Flush()
						body = body[1:]
					} else {
						w.Header().Set("Content-Length", strconv.Itoa(len(body)))
					}
					w.Write(body)
				})
				begin := httptest.NewServer
				if p.TLS {
					begin = httptest.NewTLSServer
				}
				server := begin(mux)
				t.Cleanup(server.Close)
				l, err := load.New(load.Config{Protocol: p, Payload: 5000, Clients: 2, Window: 4, CheckAll: true, Clock: monotonic}, 1)
				if err != nil {
					t.Fatal(err)
				}
				sessions := l.Sessions(0)
				if p.TLS {
					roots := x509.NewCertPool()
					roots.AddCert(server.Certificate())
					for i, s := range sessions {
						sessions[i] = tlslayer.Client(s, &tls.Config{RootCAs: roots, ServerName: "example.com"})
					}
				}
				measure(t, l, sessions, []string{server.Listener.Addr().String()})
			})
		}
	}
}

// TestRefusalReachesSender: who is refused while it goes on sending reads the
// whole answer, and then the end.
func TestRefusalReachesSender(t *testing.T) {
	server := echo.NewServer(echo.Config{Protocol: http1.Protocol()})
	for name, tc := range map[string]struct{ begin, want string }{
		"413":             {post("Content-Length: 17000000\r\n", ""), "HTTP/1.1 413 "},
		"last of three":   {sized("a") + sized("b") + post("Transfer-Encoding: gzip\r\n", ""), echoed("", "a") + echoed("", "b") + "HTTP/1.1 501 "},
		"closed, as told": {post("Content-Length: 1\r\nConnection: close\r\n", "a"), echoed(closing, "a")},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", serveSockets(t, transport.Config{}, server.Session))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(patience))
			if _, err := io.WriteString(conn, tc.begin+strings.Repeat("x", 64<<10)); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), tc.want) {
				t.Errorf("got %q, error %v; want it to begin with %q, and then the end", got, err, tc.want)
			}
		})
	}
}
