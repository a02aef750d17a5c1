package http1_test

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
)

// Where this package refuses what net/http takes, by the reason it gives, and
// why it does. It takes nothing that net/http refuses, but for what stripped
// and looseTarget tell.
var stricter = map[string]string{
	"folded header line": "RFC 9112, 5.2, wants a server to refuse obs-fold or to rewrite it; not every reader joins the lines",
	"header line that does not begin with a name and a colon":                 "net/http reads a name with spaces in responses and trailers; so smuggled fields hide",
	"both Content-Length and Transfer-Encoding":                               "RFC 9112, 6.1, allows it; net/http goes by the coding, others by the length",
	"Transfer-Encoding in HTTP/1.0":                                           "RFC 9112, 6.1, calls the framing faulty; net/http ignores the field",
	"line of a chunked body that does not end in CR LF":                       "net/http asks that of sizes; here of the trailer's lines too",
	"line of a chunked body too long":                                         "the trailer's limit does not depend on what happens to be buffered",
	"neither Content-Length nor chunked":                                      "an echo of nothing is asked for by mistake only; net/http takes it for an empty body",
	"neither Content-Length nor chunked: where the body ends nobody can tell": "net/http reads until the connection ends",
	"first line too long":                                                     "8 KiB; net/http allows 1 MiB for the whole head",
	"header too long":                                                         "64 KiB; net/http allows 1 MiB for the whole head",
	"too many header lines":                                                   "100; net/http does not count them",
	"body too large":                                                          "16 MiB; net/http leaves that to the handler",
	"unknown expectation":                                                     "net/http looks at the first Expect only, and passes what else is in a list with 100-continue",
	"malformed status line":                                                   "net/http lets reasons hold anything and the number follow several spaces",
	"HTTP version other than 1.x":                                             "net/http reads such a response all the same",
	"chunked body that is mostly not data":                                    "the last chunk's line counts too",
}

// isStricter reports whether err is a refusal that the table explains.
func isStricter(err error) bool {
	_, why, _ := strings.Cut(err.Error(), ": ") // malformed
	_, why, _ = strings.Cut(why, ": ")          // request, response
	return stricter[why] != ""
}

// closesEarlier reports whether a connection may be over sooner than that of
// net/http, which keeps one of HTTP/1.0 by the first Connection alone.
func closesEarlier(stream []byte, err error) bool {
	return err == protocol.ErrClosed && bytes.Contains(stream, []byte("HTTP/1.0"))
}

// stripped takes off the empty lines that may stand before a request. net/http
// allows them behind a POST, RFC 9112, 2.2, before the first request too.
func stripped(stream []byte) []byte {
	n := 0
	for n < min(len(stream), 4) && (stream[n] == '\r' || stream[n] == '\n') {
		n++
	}
	return stream[n:]
}

// looseTarget finds requests in absolute form. The part in front of the path
// does not matter here, and only its bytes are looked at; net/http parses it.
var looseTarget = regexp.MustCompile(`(?i) https?://`)

// echoTarget is what is echoed, in any form of a request target.
var echoTarget = regexp.MustCompile(`^((?i:https?)://[^/?#]+)?/echo(\?.*)?$`)

// reference is what a server of net/http takes for messages in a stream that
// ends. Anything but an echo ends the connection.
func reference(stream []byte) (messages []string) {
	server := http.Server{
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Method != "POST" || !echoTarget.MatchString(r.RequestURI) {
				w.Header().Set("Connection", "close")
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			messages = append(messages, string(body))
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body)
		}),
	}
	c := &canned{Reader: bytes.NewReader(stream), closed: make(chan struct{})}
	server.Serve(c) // until the connection is closed
	return messages
}

// canned is a listener with one connection, on which a stream arrives and then
// the end.
type canned struct {
	*bytes.Reader
	out      strings.Builder // what the server said
	accepted bool
	once     sync.Once
	closed   chan struct{}
}

func (c *canned) Accept() (net.Conn, error) {
	if c.accepted {
		<-c.closed
		return nil, net.ErrClosed
	}
	c.accepted = true
	return cannedConn{c}, nil
}

func (c *canned) Addr() net.Addr { return &net.TCPAddr{} }
func (c *canned) Close() error   { return nil }

// cannedConn is the connection.
type cannedConn struct{ *canned }

func (c cannedConn) Write(b []byte) (int, error)    { return c.out.Write(b) }
func (c cannedConn) LocalAddr() net.Addr            { return c.Addr() }
func (c cannedConn) RemoteAddr() net.Addr           { return c.Addr() }
func (cannedConn) SetDeadline(time.Time) error      { return nil }
func (cannedConn) SetReadDeadline(time.Time) error  { return nil }
func (cannedConn) SetWriteDeadline(time.Time) error { return nil }
func (c cannedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// wantSame holds what a codec made of a stream against the reference: the same
// messages, unless the codec is known to be stricter.
func wantSame(t *testing.T, stream []byte, h heard, want []string) {
	t.Helper()
	strict := h.err != nil && (isStricter(h.err) || closesEarlier(stream, h.err))
	if n := len(h.messages); strict && n < len(want) && slices.Equal(h.messages, want[:n]) {
		return
	}
	if !slices.Equal(h.messages, want) {
		t.Fatalf("the stream %.1000q\ngives %v\nnet/http takes the messages %.500q", stream, h, want)
	}
}

func FuzzRequest(f *testing.F) {
	for _, fields := range []string{
		"Content-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nConnection: close\r\n",
		"Content-Length : 5\r\n", "Content-Length: 5\r\nExpect: 100-continue\r\n", "Content-Length: 5\r\nExpect: x\r\n",
		"A: b\r\n c\r\nContent-Length: 5\r\n", "A: \x00\r\n", "Host: y\r\n", "",
	} {
		f.Add([]byte(post(fields, "hello")+sized("next")), uint64(1))
	}
	for _, body := range []string{
		"5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
		"1\r\na\r\n1 \r\nb\r\n0\r\n\n",
	} {
		f.Add([]byte(chunked(body)+sized("next")), uint64(2))
		f.Add([]byte(post("Content-Length: 7\r\nTransfer-Encoding: chunked\r\n", body)+sized("next")), uint64(3))
		f.Add([]byte(post("Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n", body)+sized("next")), uint64(4))
	}
	f.Add([]byte("POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na"+sized("b")), uint64(5))
	f.Add([]byte("POST http://x:80/echo?q HTTP/1.1\nHost:\nContent-Length: 1\n\na\r\n"+sized("b")), uint64(6))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), uint64(7))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		h := feed(http1.Protocol().Server(), stream, nil, true)
		if cut := feed(http1.Protocol().Server(), stream, randomCuts(len(stream), seed), true); !cut.equal(h) {
			t.Fatalf("cut, the stream %q gives\n%v, whole\n%v", stream, cut, h)
		}
		wantErrors(t, h)
		if looseTarget.Match(stream) {
			return
		}
		wantSame(t, stream, h, reference(stripped(stream)))
	})
}

// responsesOf is what net/http takes for messages in a stream of responses.
func responsesOf(stream []byte) (messages []string) {
	r := bufio.NewReader(bytes.NewReader(stream))
	request := &http.Request{Method: "POST"}
	for {
		resp, err := http.ReadResponse(r, request)
		if err != nil {
			return messages
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != 101 {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			return messages
		}
		messages = append(messages, string(body))
		if resp.Close {
			return messages
		}
	}
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		response("Content-Length: 2\r\n", "ab"), response("Content-Length: 2\r\nConnection: close\r\n", "ab"),
		response("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\nA: b\r\n\r\n"), response("", "ab"),
		"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.0 200 OK\nContent-Length: 1\n\na", "HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
	} {
		f.Add([]byte(s+response("Content-Length: 4\r\n", "next")), uint64(len(s)))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		h := feed(http1.Protocol().Client(), stream, nil, false)
		if cut := feed(http1.Protocol().Client(), stream, randomCuts(len(stream), seed), false); !cut.equal(h) {
			t.Fatalf("cut, the stream %q gives\n%v, whole\n%v", stream, cut, h)
		}
		wantErrors(t, h)
		wantSame(t, stream, h, responsesOf(stream))
	})
}
