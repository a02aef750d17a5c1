package http1_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol/http1"
)

// Pieces of requests and responses, good and bad, that mixtures are made of.
// What comes first is what a mixture has most often.
var (
	requestLines = []string{
		"POST /echo HTTP/1.1", "POST /echo HTTP/1.0", "POST /echo?a=b HTTP/1.1", "POST /echo HTTP/1.2", "GET /echo HTTP/1.1", "POST /echo#a HTTP/1.1",
		"POST /%65cho HTTP/1.1", "POST /echo%zz HTTP/1.1", "POST //echo HTTP/1.1", "POST /echo HTTP/2.0", "POST /echo HTTP/11", "POST /echo\t HTTP/1.1",
		"POST /echo", "PO(ST /echo HTTP/1.1", "POST  /echo HTTP/1.1", "", " ", "POST /echo HTTP/1.1 ", "POST /e\xffcho HTTP/1.1", "POST * HTTP/1.1", "POST echo HTTP/1.1",
	}
	statusLines = []string{
		"HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.0 200 OK", "HTTP/1.1 100 Continue", "HTTP/1.1 103 x", "HTTP/1.1 101 x", "HTTP/1.1 204 x", "HTTP/1.1 304 x", "HTTP/1.1 500 x",
		"HTTP/1.1 200 \x01", "HTTP/1.1  200 OK", "HTTP/1.1 0200 OK", "HTTP/2.0 200 OK", "HTTP/1.1 2a0 OK", "HTTP/1.1", "HTTP/1.1 +20 OK", "", "http/1.1 200 OK",
	}
	fieldLines = []string{
		"Content-Length: 5", "Transfer-Encoding: chunked", "A: b", "Connection: close", "Connection: keep-alive", "Expect: 100-continue", "content-length:5 \t", "Content-Length: 05",
		"Content-Length: 0", "Content-Length: 6", "Content-Length: +5", "Content-Length: 5,5", "Content-Length:", "Content-Length : 5", "Content-Length: 5_", "Content-Length: 0x5",
		"Content-Length: 9999999999999999999999", "Content-Length: \"5\"", "Content-Length\t: 5", "Content-Length: 5\r", "\tContent-Length: 5", " b", "Host: y", "Host: a b", "Host:", "Host: [::1]:80",
		"Transfer-Encoding: CHUNKED", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: identity", "Transfer-Encoding:\tchunked ", "Transfer-Encoding : chunked",
		"Transfer-Encoding: chunked;q=1", "Transfer-Encoding: x\x00chunked", "Transfer_Encoding: chunked", "Trailer: Content-Length", "Trailer: X", "Trailer: a,, trailer",
		"Connection: Close, x", "Connection: x, \tkeep-alive", "Connection: closed", "Expect: 200", "Expect:", "Expect: a, 100-Continue", "A", ": b", "A\x00: b", "A: \x00", "A: \x80\xff", "A: \x7f", "A:\tb\t", "{: b", "\xffA: b",
	}
	chunkLines = []string{
		"5", "0", "3;a=b", "05", "5 ", "5\t;x", "5;x ", " 5", "0x5", "+5", "-0", "", ";", "5;\r", "00000000000000005", "0000000000000005", "A", "a;", "fffffffffffffff", "5,", "5\x00", "g",
	}
	lineEnds = []string{"\r\n", "\n", "\r\r\n", "\r", "\n\r", "\r\n\r\n", ""}
)

// mixer makes mixtures. The further back in a list, the rarer a piece.
type mixer struct {
	*rand.Rand
	strings.Builder
}

func (m *mixer) one(list []string) {
	i := 0
	if m.IntN(3) == 0 {
		i = m.IntN(len(list))
	}
	m.WriteString(list[i])
}

func (m *mixer) line(list []string) {
	m.one(list)
	m.end()
}

func (m *mixer) end() {
	if m.IntN(8) > 0 {
		m.WriteString("\r\n")
		return
	}
	m.one(lineEnds)
}

func (m *mixer) message(firstLines []string) {
	m.line(firstLines)
	if m.IntN(10) > 0 {
		m.WriteString("Host: x\r\n")
	}
	if m.IntN(2) == 0 {
		m.WriteString("Content-Length: 5\r\n")
	}
	for range m.IntN(3) {
		if m.IntN(2) == 0 {
			m.line(fieldLines[m.IntN(len(fieldLines)):])
			continue
		}
		m.line(fieldLines[1:])
	}
	m.end()
	if m.IntN(2) == 0 {
		m.WriteString("hello")
		return
	}
	for range m.IntN(3) {
		m.line(chunkLines)
		m.WriteString("hello")
		m.end()
	}
	m.line(chunkLines[1:])
	for m.IntN(4) == 0 {
		m.line(fieldLines)
	}
	m.end()
}

func mixture(seed uint64, firstLines []string) []byte {
	m := &mixer{Rand: rand.New(rand.NewPCG(seed, 0))}
	for range 1 + m.IntN(3) {
		m.message(firstLines)
	}
	return []byte(m.String())
}

// mixtures is how many of each are tried.
const mixtures = 20_000

// Whatever is mixed, it is read as net/http reads it, or refused for a reason
// that is known.
func TestMixturesAreReadAlike(t *testing.T) {
	taken, refused := 0, 0
	for seed := range uint64(mixtures) {
		stream := mixture(seed, requestLines)
		h := feed(http1.Protocol().Server(), stream, nil, true)
		if cut := feed(http1.Protocol().Server(), stream, randomCuts(len(stream), seed), true); !cut.equal(h) {
			t.Fatalf("cut, the stream %q gives\n%v, whole\n%v", stream, cut, h)
		}
		wantErrors(t, h)
		want := reference(stripped(stream))
		wantSame(t, stream, h, want)
		if len(want) > 0 {
			taken++
		}
		if h.err != nil {
			refused++
		}
	}
	if taken < mixtures/20 || refused < mixtures/20 {
		t.Errorf("of %d mixtures %d had a request that was taken and %d one that was refused: too few to tell anything", mixtures, taken, refused)
	}
}

func TestMixedResponsesAreReadAlike(t *testing.T) {
	taken := 0
	for seed := range uint64(mixtures) {
		stream := mixture(seed, statusLines)
		h := feed(http1.Protocol().Client(), stream, nil, false)
		if cut := feed(http1.Protocol().Client(), stream, randomCuts(len(stream), seed), false); !cut.equal(h) {
			t.Fatalf("cut, the stream %q gives\n%v, whole\n%v", stream, cut, h)
		}
		wantErrors(t, h)
		wantSame(t, stream, h, responsesOf(stream))
		taken += len(h.messages)
	}
	if taken < mixtures/20 {
		t.Errorf("%d mixtures had only %d good responses: too few to tell anything", mixtures, taken)
	}
}
