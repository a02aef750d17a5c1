package http1

import (
	"fmt"
	"strconv"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// fault is what is wrong with what the peer sent. As an answer a server puts it
// as a status; a client has no use for that.
type fault struct {
	status int
	why    string // nothing of the peer's own words, which are not to be trusted
}

func bad(why string) *fault { return &fault{400, why} }

// phrases are the reason phrases of the statuses that a server refuses with.
var phrases = map[int]string{
	400: "Bad Request",
	404: "Not Found",
	405: "Method Not Allowed",
	411: "Length Required",
	413: "Content Too Large",
	414: "URI Too Long",
	417: "Expectation Failed",
	431: "Request Header Fields Too Large",
	501: "Not Implemented",
	505: "HTTP Version Not Supported",
}

// append answers with the fault. The answer to a HEAD request has no body,
// though it tells the length of the one it would have.
func (f *fault) append(out []byte, toHead bool) []byte {
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(f.status), 10)
	out = append(out, ' ')
	out = append(out, phrases[f.status]...)
	if f.status == 405 {
		out = append(out, "\r\nAllow: POST"...)
	}
	out = append(out, "\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(f.why)+1), 10)
	out = append(out, "\r\n\r\n"...)
	if toHead {
		return out
	}
	return append(append(out, f.why...), '\n')
}

func (f *fault) error(of string) error {
	return fmt.Errorf("%w: %s: %s", protocol.ErrMalformed, of, f.why)
}
