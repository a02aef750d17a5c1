// Package websocket frames messages as RFC 6455 does: an upgrade over HTTP/1.1,
// then frames, those of the client masked. It knows bytes only.
//
// Frame headers, masking and the rules for headers are those of gobwas/ws.
// What that library does with a reader blocks until a whole frame is there and
// allocates for each; here a frame is looked at once all of it is in memory.
//
// No extension and no subprotocol is offered or accepted.
package websocket

import (
	"encoding/binary"
	"math/rand/v2"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// MaxPayload is the largest message in bytes, in one frame or in many.
const MaxPayload = 16 << 20

// library is what the frames are made with, as go.mod requires it.
const library = "github.com/gobwas/ws@v1.5.0"

// Protocol is the entry of this protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:       "websocket",
		Network:    "tcp",
		MaxPayload: MaxPayload,
		Server:     func() protocol.Codec { return newServer() },
		Client:     func() protocol.Codec { return newClient() },
		Stack:      map[string]string{"websocket": library},
	}
}

// Secure is the entry of the same protocol under TLS.
func Secure() protocol.Protocol {
	p := Protocol()
	p.Name, p.TLS = "wss", true
	return p
}

// codec is either end of a connection.
type codec struct {
	state ws.State // which end, and whether a message is half received
	ready bool     // upgraded and not over
	over  error    // why nothing more is read or sent

	kind  ws.OpCode // text or binary: what the message received last is
	parts []byte    // the fragments so far; never nil, as an empty message is one
	runes int       // bytes of parts known to be UTF-8, if they are to be

	masks *rand.ChaCha8 // of a client's frames; nil: a server
	key   string        // what a client's request bears
}

var _ protocol.Codec = (*codec)(nil)

func newServer() *codec {
	return &codec{state: ws.StateServerSide, kind: ws.OpBinary, parts: []byte{}}
}

// newClient makes a client with a key and masks that nobody can foresee.
func newClient() *codec {
	c := &codec{state: ws.StateClientSide, parts: []byte{}}
	c.key, c.masks = secrets()
	return c
}

func (c *codec) Open(out []byte) ([]byte, error) {
	if c.masks == nil {
		return out, nil
	}
	return appendRequest(out, c.key), nil
}

func (c *codec) Ready() bool { return c.ready }

// Append frames a message in one piece: as binary, but a server answers a text
// with a text.
func (c *codec) Append(out, head, body []byte) []byte {
	if c.masks == nil {
		return c.appendFrame(out, c.kind, head, body)
	}
	return c.appendFrame(out, ws.OpBinary, head, body)
}

func (c *codec) appendFrame(out []byte, op ws.OpCode, head, body []byte) []byte {
	h := ws.Header{Fin: true, OpCode: op, Length: int64(len(head) + len(body))}
	if c.masks == nil {
		out = appendHeader(out, h)
		out = append(out, head...)
		return append(out, body...)
	}
	h.Masked = true
	binary.LittleEndian.PutUint32(h.Mask[:], uint32(c.masks.Uint64()))
	out = appendHeader(out, h)
	at := len(out)
	out = append(out, head...)
	out = append(out, body...)
	ws.Cipher(out[at:], h.Mask, 0)
	return out
}

func (c *codec) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	if !c.ready {
		used, out, err = c.upgrade(in, out)
		return nil, used, out, err
	}
	h, n := parseHeader(in)
	if n == 0 {
		return nil, 0, out, nil
	}
	if f := c.check(h, n); f != nil {
		return c.fail(out, f)
	}
	end := n + int(h.Length)
	if len(in) < end {
		return nil, 0, out, nil
	}
	payload := in[n:end:end]
	if h.Masked {
		ws.Cipher(payload, h.Mask, 0)
	}
	var f *fault
	switch {
	case h.OpCode.IsControl():
		return c.control(h.OpCode, payload, end, out)
	case h.Fin && h.OpCode != ws.OpContinuation:
		c.kind = h.OpCode
		if c.kind == ws.OpText && !utf8.Valid(payload) {
			f = &notUTF8
		}
		msg = payload
	default:
		msg, f = c.join(h, payload)
	}
	if f != nil {
		return c.fail(out, f)
	}
	return msg, end, out, nil
}

// join adds a fragment to its message, which is returned once it is whole. It
// lies in the codec's own memory.
func (c *codec) join(h ws.Header, fragment []byte) (msg []byte, f *fault) {
	if h.OpCode != ws.OpContinuation {
		c.state = c.state.Set(ws.StateFragmented)
		c.kind, c.parts, c.runes = h.OpCode, c.parts[:0], 0
	}
	c.parts = append(c.parts, fragment...)
	if c.kind == ws.OpText {
		to := len(c.parts)
		if !h.Fin {
			to = wholeRunes(c.parts)
		}
		if !utf8.Valid(c.parts[c.runes:to]) {
			return nil, &notUTF8
		}
		c.runes = to
	}
	if !h.Fin {
		return nil, nil
	}
	c.state = c.state.Clear(ws.StateFragmented)
	return c.parts, nil
}

// wholeRunes is the length of b without the beginning of a rune at its end.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
