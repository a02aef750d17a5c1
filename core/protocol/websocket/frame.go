package websocket

import (
	"encoding/binary"
	"fmt"

	"github.com/gobwas/ws"
)

// The seven bits of length that say that the length is in the bytes behind.
const (
	length16 = 126
	length64 = 127
)

const (
	bitFin    = 1 << 7
	bitMasked = 1 << 7
)

// parseHeader reads the header at the front of in, which is n bytes long; 0:
// it is not all there.
//
// Note: ws.ReadHeader does the same with a reader, which costs an allocation
// and several calls for each frame.
func parseHeader(in []byte) (h ws.Header, n int) {
	if len(in) < ws.MinHeaderSize {
		return h, 0
	}
	h.Fin = in[0]&bitFin != 0
	h.Rsv = in[0] >> 4 & 7
	h.OpCode = ws.OpCode(in[0] & 0xf)
	h.Masked = in[1]&bitMasked != 0
	h.Length = int64(in[1] &^ bitMasked)
	n = ws.MinHeaderSize
	switch h.Length {
	case length16:
		if n += 2; len(in) < n {
			return h, 0
		}
		h.Length = int64(binary.BigEndian.Uint16(in[2:]))
	case length64:
		if n += 8; len(in) < n {
			return h, 0
		}
		h.Length = int64(binary.BigEndian.Uint64(in[2:]))
	}
	if h.Masked {
		if n += len(h.Mask); len(in) < n {
			return h, 0
		}
		h.Mask = [4]byte(in[n-len(h.Mask):])
	}
	return h, n
}

// appendHeader writes a header without reserved bits, its length in the
// shortest form.
func appendHeader(out []byte, h ws.Header) []byte {
	first, masked := byte(h.OpCode), byte(0)
	if h.Fin {
		first |= bitFin
	}
	if h.Masked {
		masked = bitMasked
	}
	switch {
	case h.Length < length16:
		out = append(out, first, masked|byte(h.Length))
	case h.Length < 1<<16:
		out = append(out, first, masked|length16, byte(h.Length>>8), byte(h.Length))
	default:
		out = append(out, first, masked|length64)
		out = binary.BigEndian.AppendUint64(out, uint64(h.Length))
	}
	if h.Masked {
		out = append(out, h.Mask[:]...)
	}
	return out
}

// check holds a header of n bytes to the rules.
func (c *codec) check(h ws.Header, n int) *fault {
	if err := ws.CheckHeader(h, c.state); err != nil {
		return &fault{ws.StatusProtocolError, err.Error()}
	}
	switch {
	case n != ws.HeaderSize(h): // so are those over 1<<63, which make Length negative
		return &fault{ws.StatusProtocolError, "length in more bytes than it takes"}
	case h.OpCode.IsControl():
		return nil
	}
	have := 0
	if c.state.Fragmented() {
		have = len(c.parts)
	}
	if h.Length > int64(MaxPayload-have) {
		return &fault{ws.StatusMessageTooBig, fmt.Sprintf("message over %d bytes", MaxPayload)}
	}
	return nil
}
