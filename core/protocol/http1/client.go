package http1

import (
	"slices"
	"strconv"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// question is how requests begin, up to the length of their body. Host is the
// name that certificates of servers bear: a codec does not know where it is
// connected to.
const question = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: "

// maxLengthDigits is the most digits of a body's length.
const maxLengthDigits = len("16777216")

// client is the end that asks.
type client struct {
	response response
	body     body
	inBody   bool // the head of the response has been taken
}

var _ protocol.Codec = (*client)(nil)

func (c *client) Open(out []byte) ([]byte, error) { return out, nil }

func (c *client) Ready() bool { return true }

// Next takes a response, as the server takes a request.
func (c *client) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	if !c.inBody {
		n, f := c.response.read(in)
		if f != nil {
			return nil, 0, out, f.error("response")
		}
		used = n
		if n > 0 && c.response.isInterim {
			c.response = response{}
			return nil, used, out, nil
		}
		if n == 0 {
			return nil, 0, out, nil
		}
		c.inBody = true
		c.body.begin(&c.response.head)
	}
	msg, n, f := c.body.take(in[used:])
	if f != nil {
		return nil, 0, out, f.error("response")
	}
	used += n
	if msg == nil {
		return nil, used, out, nil
	}
	if c.response.last() {
		err = protocol.ErrClosed
	}
	c.inBody, c.response = false, response{}
	return msg, used, out, err
}

func (c *client) Append(out, head, body []byte) []byte {
	n := len(head) + len(body)
	out = slices.Grow(out, len(question)+maxLengthDigits+len("\r\n\r\n")+n)
	out = append(out, question...)
	out = strconv.AppendInt(out, int64(n), 10)
	out = append(out, "\r\n\r\n"...)
	out = append(out, head...)
	return append(out, body...)
}

// response is the head of a response.
type response struct {
	head
	isInterim bool // a 1xx: the response itself is still to come
}

func (r *response) read(in []byte) (used int, f *fault) {
	used, f = r.head.read(in, r.line)
	if f == nil && used > 0 && !r.isInterim {
		f = r.judge()
	}
	return used, f
}

// line takes the status line. An interim response that changes the protocol is
// none that was asked for.
func (r *response) line(b []byte) *fault {
	const status = len("HTTP/1.1 ")
	if len(b) < status+3 || b[status-1] != ' ' || len(b) > status+3 && b[status+3] != ' ' {
		return bad("malformed status line")
	}
	code, reason := b[status:status+3], b[status+3:]
	if n, ok := number(code); !ok || n < 100 || !all(reason, inValue) {
		return bad("malformed status line")
	}
	r.isInterim = code[0] == '1' && string(code) != "101"
	if !r.isInterim && string(code) != "200" {
		return bad("status " + string(code) + " instead of 200")
	}
	return r.version(b[:status-1])
}

// judge decides about a response whose head is complete and well formed.
func (r *response) judge() *fault {
	switch {
	case !r.chunked && r.digits == 0:
		return bad("neither Content-Length nor chunked: where the body ends nobody can tell")
	case r.length > MaxPayload:
		return tooLarge()
	}
	return nil
}
