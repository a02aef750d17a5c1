// Package tcp frames messages on a plain stream: four bytes of length, most
// significant first, then the payload. It knows bytes only.
package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/netmatrix/netmatrix/core/protocol"
)

const (
	prefixBytes = 4
	// MaxPayload is the largest message, so that a broken length cannot make
	// the other end wait for gigabytes.
	MaxPayload = 16 << 20
)

// Protocol is the entry of this protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:       "tcp",
		Network:    "tcp",
		MaxPayload: MaxPayload,
		Overhead:   prefixBytes,
		Mirror:     true,
		Server:     func() protocol.Codec { return &codec{} },
		Client:     func() protocol.Codec { return &codec{} },
	}
}

// Secure is the entry of the same framing under TLS.
func Secure() protocol.Protocol {
	p := Protocol()
	p.Name, p.TLS = "tcps", true
	return p
}

// codec has no state: both ends frame alike and nothing precedes the messages.
// Its methods have pointer receivers because a call through an interface goes
// straight to those, and through a wrapper to others.
type codec struct{}

var _ protocol.Codec = (*codec)(nil)

func (*codec) Open(out []byte) ([]byte, error) { return out, nil }

func (*codec) Ready() bool { return true }

func (*codec) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	if len(in) < prefixBytes {
		return nil, 0, out, nil
	}
	n := binary.BigEndian.Uint32(in)
	if n == 0 || n > MaxPayload {
		return nil, 0, out, lengthError(n)
	}
	end := prefixBytes + int(n)
	if len(in) < end {
		return nil, 0, out, nil
	}
	return in[prefixBytes:end:end], end, out, nil
}

func lengthError(n uint32) error {
	return fmt.Errorf("%w: length %d lies outside 1 to %d", protocol.ErrMalformed, n, MaxPayload)
}

func (*codec) Append(out, head, body []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)+len(body)))
	out = append(out, head...)
	return append(out, body...)
}
