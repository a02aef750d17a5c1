package http1

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/netmatrix/netmatrix/core/protocol"
)

const path = "/echo"

// How answers begin, up to the length of their body. HTTP/1.1 keeps a
// connection unless it is told not to, HTTP/1.0 the other way round.
const (
	answer        = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: "
	answerKeeping = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Type: application/octet-stream\r\nContent-Length: "
	answerClosing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: "

	goOn = "HTTP/1.1 100 Continue\r\n\r\n"
)

// server is the end that answers.
type server struct {
	request request
	body    body
	inBody  bool   // the head of the request has been taken
	answer  string // how the answer to the request begins that was taken last
}

var _ protocol.Codec = (*server)(nil)

func (s *server) Open(out []byte) ([]byte, error) { return out, nil }

func (s *server) Ready() bool { return true }

// Next takes the head of a request together with its body if all of that is
// there, so that the message is a slice of in. Otherwise it takes the head
// first: it need not be read again, and whoever waits for a 100 gets it.
func (s *server) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	if !s.inBody {
		n, f := s.request.read(in)
		if f != nil {
			return s.refuse(out, f)
		}
		if n == 0 {
			return nil, 0, out, nil
		}
		used = n
		out = s.begin(out)
	}
	msg, n, f := s.body.take(in[used:])
	if f != nil {
		return s.refuse(out, f)
	}
	used += n
	if msg == nil {
		return nil, used, out, nil
	}
	if s.request.last() {
		err = protocol.ErrClosed
	}
	s.inBody, s.request = false, request{}
	return msg, used, out, err
}

func (s *server) refuse(out []byte, f *fault) (msg []byte, used int, o []byte, err error) {
	return nil, 0, f.append(out, s.request.isHead), f.error("request")
}

// begin goes on from the head of a request to its body. Whether some of the
// body has come already does not matter to a 100, since that is chance.
func (s *server) begin(out []byte) []byte {
	r := &s.request
	s.inBody = true
	s.body.begin(&r.head)
	switch {
	case r.last():
		s.answer = answerClosing
	case r.old:
		s.answer = answerKeeping
	default:
		s.answer = answer
	}
	if r.waits && !r.old && (r.chunked || r.length > 0) {
		out = append(out, goOn...)
	}
	return out
}

func (s *server) Append(out, head, body []byte) []byte {
	n := len(head) + len(body)
	out = slices.Grow(out, len(s.answer)+maxLengthDigits+len("\r\n\r\n")+n)
	out = append(out, s.answer...)
	out = strconv.AppendInt(out, int64(n), 10)
	out = append(out, "\r\n\r\n"...)
	out = append(out, head...)
	return append(out, body...)
}

// request is the head of a request.
type request struct {
	head
	isHead bool // of the method HEAD: the answer has no body
	isPost bool
	isEcho bool // it is addressed to path
}

// maxBlank is how many bytes of empty lines may stand before a request: some
// clients send one behind a body.
const maxBlank = 4

func (r *request) read(in []byte) (used int, f *fault) {
	for r.at < min(len(in), maxBlank) && (in[r.at] == '\r' || in[r.at] == '\n') {
		r.at++
	}
	used, f = r.head.read(in, r.line)
	if f == nil && used > 0 {
		f = r.judge()
	}
	return used, f
}

// line takes the request line.
func (r *request) line(b []byte) *fault {
	method, rest, ok := cut(b, ' ')
	target, version, more := cut(rest, ' ')
	switch {
	case !ok || !more:
		return bad("malformed request line")
	case len(method) == 0 || !all(method, inToken):
		return bad("malformed method")
	case len(target) == 0 || !all(target, inTarget):
		return bad("malformed request target")
	}
	r.isPost, r.isHead = string(method) == "POST", string(method) == "HEAD"
	r.isEcho = isEcho(target)
	return r.version(version)
}

// isEcho reports whether a request target means path: in origin form or, which
// only proxies use but every server has to take, in absolute form. What a query
// says does not matter.
func isEcho(target []byte) bool {
	if target[0] != '/' {
		scheme, rest, ok := bytes.Cut(target, []byte("://"))
		slash := bytes.IndexByte(rest, '/')
		if !ok || !is(scheme, "http") && !is(scheme, "https") || slash < 1 || !all(rest[:slash], inHost) {
			return false
		}
		target = rest[slash:]
	}
	target, _, _ = cut(target, '?')
	return string(target) == path
}

// judge decides about a request whose head is complete and well formed.
func (r *request) judge() *fault {
	switch {
	case r.hosts == 0 && !r.old:
		return bad("missing Host")
	case r.hosts > 1:
		return bad("more than one Host")
	case r.oddHost:
		return bad("malformed Host")
	case r.expects:
		return &fault{417, "unknown expectation"}
	case !r.isEcho:
		return &fault{404, "there is nothing but " + path}
	case !r.isPost:
		return &fault{405, "the method for " + path + " is POST"}
	case !r.chunked && r.digits == 0:
		return &fault{411, "neither Content-Length nor chunked"}
	case r.length > MaxPayload:
		return tooLarge()
	}
	return nil
}
