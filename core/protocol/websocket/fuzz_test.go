package websocket_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

// referee judges a stream of frames with what the library offers to those who
// read from a blocking connection. It says what converse is to say.
type referee struct {
	state ws.State
	op    ws.OpCode // of the message in fragments
	parts []byte
	said  []string
}

func (r *referee) judge(in []byte) []string {
	for from := bytes.NewReader(in); ; {
		before := from.Len()
		h, err := ws.ReadHeader(from)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return r.said
		case err != nil, ws.CheckHeader(h, r.state) != nil, before-from.Len() != ws.HeaderSize(h):
			return fails(1002, r.said...)
		case !h.OpCode.IsControl() && h.Length+int64(len(r.parts)) > websocket.MaxPayload:
			return fails(1009, r.said...)
		}
		payload := make([]byte, min(h.Length, int64(from.Len())))
		if io.ReadFull(from, payload); int64(len(payload)) < h.Length {
			return r.said
		}
		if h.Masked {
			ws.Cipher(payload, h.Mask, 0)
		}
		if r.frame(h, payload) {
			return r.said
		}
	}
}

// frame takes one legal frame; over: it was the last.
func (r *referee) frame(h ws.Header, payload []byte) (over bool) {
	switch h.OpCode {
	case ws.OpPing:
		r.said = append(r.said, words(ws.OpPong, payload))
	case ws.OpPong:
	case ws.OpClose:
		r.said = r.closed(payload)
		return true
	default:
		if h.OpCode != ws.OpContinuation {
			r.op = h.OpCode
		}
		r.parts = append(r.parts, payload...)
		r.state = r.state.Set(ws.StateFragmented)
		switch {
		case r.op == ws.OpText && !canBeUTF8(r.parts, h.Fin):
			r.said = fails(1007, r.said...)
			return true
		case h.Fin:
			if r.state.ClientSide() {
				r.op = ws.OpBinary
			}
			r.said = append(r.said, words(r.op, r.parts))
			r.state, r.parts = r.state.Clear(ws.StateFragmented), nil
		}
	}
	return false
}

func (r *referee) closed(payload []byte) []string {
	if len(payload) == 0 {
		return append(r.said, "close", "closed")
	}
	code, reason := ws.ParseCloseFrameData(payload)
	err := ws.CheckCloseFrameData(code, reason)
	switch {
	case code >= 1012 && code <= 1014 && utf8.ValidString(reason): // registered since
		err = nil
	case code >= 1012 && code <= 1014:
		err = ws.ErrProtocolInvalidUTF8
	case code > 4999: // nobody gives these out
		err = ws.ErrProtocolStatusCodeUnknown
	}
	switch {
	case errors.Is(err, ws.ErrProtocolInvalidUTF8):
		return fails(1007, r.said...)
	case err != nil:
		return fails(1002, r.said...)
	}
	return closes(int(code), r.said...)
}

// canBeUTF8 reports whether some bytes behind b make UTF-8 of it, or none if it
// is all.
func canBeUTF8(b []byte, all bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return !all && !utf8.FullRune(b)
		}
		b = b[n:]
	}
	return true
}

// The library's reader and the codec agree on every stream, however it is cut.
func FuzzWebSocket(f *testing.F) {
	for _, tc := range cases() {
		for _, client := range []bool{false, true} {
			if b := stream(tc.in, !client); len(b) < 1<<10 {
				f.Add(b, client, uint16(len(tc.name)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, client bool, cut uint16) {
		end := ends[0]
		r := referee{state: ws.StateServerSide}
		if client {
			end = ends[1]
			r.state = ws.StateClientSide
		}
		want := r.judge(in)
		at := min(len(in), int(cut))
		for _, calls := range [][][]byte{{in}, {in[:at], in[at:]}} {
			out, err := converse(end.open(t), calls)
			if got := said(t, out, client, err); !slices.Equal(got, want) {
				t.Fatalf("%s, %d calls: it said %q, the library says %q", end.name, len(calls), got, want)
			}
		}
	})
}

// The referee itself is right about what the table says.
func TestReferee(t *testing.T) {
	for _, tc := range cases() {
		r := referee{state: ws.StateServerSide}
		if got := r.judge(stream(tc.in, true)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %.200q, want %.200q", tc.name, got, tc.want)
		}
	}
}

// Whatever a peer sends before the upgrade, a server answers with one response
// or waits, a client says nothing, and both do the same however it is cut.
func FuzzUpgrade(f *testing.F) {
	for _, b := range []string{request, granted, added("X: y\r\n"), changed("GET", "POST"), changed("13", "8"), "\n\n", request + "\x89\x80\x01\x02\x03\x04"} {
		f.Add([]byte(b), uint16(30))
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		at := min(len(in), int(cut))
		first := ""
		for i, calls := range [][][]byte{{in}, {in[:at], in[at:]}} {
			server := websocket.Protocol().Server()
			out, err := converse(server, calls)
			if err != nil && !errors.Is(err, protocol.ErrMalformed) && !errors.Is(err, protocol.ErrClosed) {
				t.Fatalf("error %v", err)
			}
			switch {
			case len(out) > 0:
				if r := response(t, out); (r.StatusCode == 101) == r.Close || r.Close && err == nil {
					t.Fatalf("status %s, closes: %t, error %v", r.Status, r.Close, err)
				}
			case err != nil || server.Ready():
				t.Fatalf("nothing was said: error %v, ready %t", err, server.Ready())
			}
			state := fmt.Sprintf("%q %v %t", out, err, server.Ready())
			if i > 0 && state != first {
				t.Fatalf("whole: %s\ncut at %d: %s", first, at, state)
			}
			first = state
			client := websocket.Protocol().Client()
			if out, err := converse(client, calls); len(out) > 0 || client.Ready() || err != nil && !errors.Is(err, protocol.ErrMalformed) {
				t.Fatalf("the client said %q, error %v, ready %t", out, err, client.Ready())
			}
		}
	})
}

// Of all close codes the same may be sent as the library says, but for those
// registered after the RFC and those nobody gives out.
func TestCloseCodes(t *testing.T) {
	for code := range 1 << 16 {
		want := ws.CheckCloseFrameData(ws.StatusCode(code), "") == nil
		if code >= 1012 && code <= 1014 {
			want = true
		}
		if code > 4999 {
			want = false
		}
		in := compiled(ws.NewCloseFrame(binary.BigEndian.AppendUint16(nil, uint16(code))), true)
		if _, _, _, err := openServer(t).Next(in, nil); errors.Is(err, protocol.ErrClosed) != want {
			t.Errorf("code %d: %v, want it legal: %t", code, err, want)
		}
	}
}
