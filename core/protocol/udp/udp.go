// Package udp frames messages as datagrams: one message is one datagram, and
// nothing is added to it. It knows bytes only.
package udp

import "github.com/netmatrix/netmatrix/core/protocol"

// MaxPayload is the largest payload of a datagram over IPv4: 65,535 bytes less
// an IP header of 20 and a UDP header of 8. Over IPv6 it would be 20 more; one
// limit for both keeps the cells comparable.
const MaxPayload = 65507

// Protocol is the entry of this protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:       "udp",
		Network:    "udp",
		MaxPayload: MaxPayload,
		Datagram:   true,
		Mirror:     true,
		Server:     func() protocol.Codec { return codec{} },
		Client:     func() protocol.Codec { return codec{} },
	}
}

// codec has no state: both ends frame alike, and where a message ends the
// datagram says.
type codec struct{}

var _ protocol.Codec = codec{}

func (codec) Open(out []byte) ([]byte, error) { return out, nil }

func (codec) Ready() bool { return true }

func (codec) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	return in, len(in), out, nil
}

func (codec) Append(out, head, body []byte) []byte {
	return append(append(out, head...), body...)
}
