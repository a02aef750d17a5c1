package websocket

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// fault is how the peer broke the protocol and the code that tells it so.
type fault struct {
	code ws.StatusCode
	why  string
}

var notUTF8 = fault{ws.StatusInvalidFramePayloadData, "text that is not UTF-8"}

// control takes a control frame of used bytes: a ping is answered, a pong was
// not asked for, and a close ends the conversation.
func (c *codec) control(op ws.OpCode, payload []byte, used int, out []byte) (msg []byte, n int, o []byte, err error) {
	switch op {
	case ws.OpPing:
		out = c.appendFrame(out, ws.OpPong, payload, nil)
	case ws.OpClose:
		f := checkClose(payload)
		if f != nil {
			return c.fail(out, f)
		}
		// The answer repeats the code, if there is one.
		out = c.appendFrame(out, ws.OpClose, payload[:min(len(payload), 2)], nil)
		c.ready, c.over = false, protocol.ErrClosed
		return nil, used, out, c.over
	}
	return nil, used, out, nil
}

// checkClose holds the payload of a close frame to the rules.
func checkClose(payload []byte) *fault {
	switch {
	case len(payload) == 0:
		return nil
	case len(payload) == 1:
		return &fault{ws.StatusProtocolError, "close code of one byte"}
	case !legalCode(ws.StatusCode(binary.BigEndian.Uint16(payload))):
		return &fault{ws.StatusProtocolError, fmt.Sprintf("close code %d", binary.BigEndian.Uint16(payload))}
	case !utf8.Valid(payload[2:]):
		return &notUTF8
	}
	return nil
}

// legalCode reports whether a code may be sent.
//
// Note: ws.CheckCloseFrameData does not know the codes 1012 to 1014, which were
// registered after the RFC, and takes those over 4999, which nobody gives out.
func legalCode(code ws.StatusCode) bool {
	switch code {
	case ws.StatusNoMeaningYet, ws.StatusNoStatusRcvd, ws.StatusAbnormalClosure:
		return false
	}
	return code >= 1000 && code <= 1014 || code >= 3000 && code <= 4999
}

// fail says why in a close frame. It is the last that is sent.
func (c *codec) fail(out []byte, f *fault) (msg []byte, used int, o []byte, err error) {
	c.ready, c.over = false, fmt.Errorf("%w: %s", protocol.ErrMalformed, f.why)
	code := binary.BigEndian.AppendUint16(nil, uint16(f.code))
	return nil, 0, c.appendFrame(out, ws.OpClose, code, nil), c.over
}
