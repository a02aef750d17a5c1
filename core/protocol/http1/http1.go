// Package http1 frames messages as HTTP/1.1 does: a message is the body of
// POST /echo, its echo the body of the 200 that answers it. Connections are
// kept alive, requests may be pipelined, and answers come in their order. It
// knows bytes only.
//
// The server takes a request for what net/http takes it for, and where the two
// differ it is the stricter one: what one reader passes and another cuts
// differently is how requests are smuggled. The differences are a table in the
// tests. A refusal says why, and closes the connection.
//
// No Date is sent: RFC 9110, section 6.6.1, wants one of servers that have a
// clock, and a codec has none. A server of net/http sends 37 bytes more for it,
// so that one compared with this differs also in that.
package http1

import "github.com/netmatrix/netmatrix/core/protocol"

// Limits in bytes, but for maxFields. Those of a head are far below net/http's:
// no field means anything here but the few that frame the body.
const (
	// MaxPayload is the largest body.
	MaxPayload = 16 << 20

	maxFirstLine = 8 << 10
	maxFieldArea = 64 << 10 // the fields of a head together
	maxFields    = 100
	maxChunkLine = 4 << 10
	maxTrailer   = 4 << 10 // the fields behind a chunked body together
)

// own is where requests and responses are parsed and made.
const own = "netmatrix/core/protocol/http1"

// Protocol is the entry of this protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:       "http",
		Network:    "tcp",
		MaxPayload: MaxPayload,
		Server:     func() protocol.Codec { return &server{} },
		Client:     func() protocol.Codec { return &client{} },
		Stack:      map[string]string{"http": own},
	}
}

// Secure is the entry of the same protocol under TLS.
func Secure() protocol.Protocol {
	p := Protocol()
	p.Name, p.TLS = "https", true
	return p
}
