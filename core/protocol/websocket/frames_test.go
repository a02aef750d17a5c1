package websocket_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

// request is an upgrade as simple as it can be; its key is that of the RFC.
const request = "GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

// granted is the answer to it.
const granted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
	"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

// ends are the two codecs, each upgraded.
var ends = []struct {
	name   string
	client bool
	open   func(t testing.TB) protocol.Codec
}{
	{"server", false, openServer},
	{"client", true, openClient},
}

func openServer(t testing.TB) protocol.Codec {
	t.Helper()
	c := websocket.Protocol().Server()
	if _, _, _, err := c.Next([]byte(request), nil); err != nil || !c.Ready() {
		t.Fatalf("upgrade: error %v, ready %t", err, c.Ready())
	}
	return c
}

func openClient(t testing.TB) protocol.Codec {
	t.Helper()
	c := websocket.Protocol().Client()
	asked, err := c.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.Next(grant(t, asked), nil); err != nil || !c.Ready() {
		t.Fatalf("upgrade: error %v, ready %t", err, c.Ready())
	}
	return c
}

// grant is what the library answers to a request.
func grant(t testing.TB, asked []byte) []byte {
	t.Helper()
	answer := new(bytes.Buffer)
	_, err := ws.Upgrade(struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(asked), answer})
	if err != nil {
		t.Fatalf("the library refuses %q: %v", asked, err)
	}
	return answer.Bytes()
}

// piece is a part of a stream, from a client (masked) or a server.
type piece func(masked bool) []byte

func compiled(f ws.Frame, masked bool) []byte {
	if masked {
		f = ws.MaskFrameWith(f, [4]byte{0x37, 0xfa, 0x21, 0x3d})
	}
	return ws.MustCompileFrame(f)
}

// whole is a frame that is a message.
func whole(op ws.OpCode, payload string) piece {
	return func(masked bool) []byte { return compiled(ws.NewFrame(op, true, []byte(payload)), masked) }
}

// part is a frame that more will follow.
func part(op ws.OpCode, payload string) piece {
	return func(masked bool) []byte { return compiled(ws.NewFrame(op, false, []byte(payload)), masked) }
}

// reserved is a frame with reserved bits set.
func reserved(rsv byte, op ws.OpCode, payload string) piece {
	return func(masked bool) []byte {
		f := ws.NewFrame(op, true, []byte(payload))
		f.Header.Rsv = rsv
		return compiled(f, masked)
	}
}

// closing is a close frame.
func closing(code uint16, reason string) piece {
	return whole(ws.OpClose, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

// wrongly is a frame masked as the other end does.
func wrongly(p piece) piece {
	return func(masked bool) []byte { return p(!masked) }
}

// announced is a header that announces length bytes in a form of 2 or 8 bytes.
func announced(op ws.OpCode, form int, length uint64) piece {
	return func(masked bool) []byte {
		b := []byte{0x80 | byte(op), 126}
		if form == 8 {
			b[1] = 127
		}
		b = append(b, binary.BigEndian.AppendUint64(nil, length)[8-form:]...)
		if masked {
			b[1] |= 0x80
			b = append(b, 1, 2, 3, 4)
		}
		return b
	}
}

// octets is a message in fragments of one byte each.
func octets(op ws.OpCode, payload string) (list []piece) {
	for i := range len(payload) {
		if i == len(payload)-1 {
			list = append(list, whole(op, payload[i:]))
		} else {
			list = append(list, part(op, payload[i:i+1]))
		}
		op = ws.OpContinuation
	}
	return list
}

func stream(pieces []piece, masked bool) (b []byte) {
	for _, p := range pieces {
		b = append(b, p(masked)...)
	}
	return b
}

// readFrame reads a frame as it lies on the wire, masked or not.
func readFrame(r io.Reader) (f ws.Frame, err error) {
	if f.Header, err = ws.ReadHeader(r); err != nil {
		return f, err
	}
	f.Payload = make([]byte, f.Header.Length)
	_, err = io.ReadFull(r, f.Payload)
	return f, err
}

// converse hands the calls to a codec and sends every message back. It returns
// all that the codec says, and the error it ends with.
func converse(c protocol.Codec, calls [][]byte) (out []byte, err error) {
	var inbox protocol.Inbox
	for _, in := range calls {
		in = bytes.Clone(in) // it is unmasked in place
		for len(in) > 0 {
			msg, used, o, err := inbox.Next(c, in, out)
			out = o
			if msg != nil {
				out = c.Append(out, msg, nil)
			}
			if err != nil {
				return out, err
			}
			if used == 0 {
				break
			}
			in = in[used:]
		}
	}
	return out, nil
}

// said puts into words what a codec said in frames and how it ended.
func said(t testing.TB, out []byte, masked bool, err error) (list []string) {
	t.Helper()
	r := bytes.NewReader(out)
	for r.Len() > 0 {
		f, err := readFrame(r)
		if err != nil {
			t.Fatalf("what was said breaks off: %v", err)
		}
		if f.Header.Masked != masked || !f.Header.Fin || f.Header.Rsv != 0 {
			t.Errorf("header %+v; want it whole, nothing reserved, masked %t", f.Header, masked)
		}
		if masked {
			f = ws.UnmaskFrameInPlace(f)
		}
		list = append(list, words(f.Header.OpCode, f.Payload))
	}
	switch {
	case errors.Is(err, protocol.ErrClosed) && errors.Is(err, protocol.ErrMalformed):
		t.Errorf("error %v is of both kinds", err)
	case errors.Is(err, protocol.ErrClosed):
		list = append(list, "closed")
	case errors.Is(err, protocol.ErrMalformed):
		list = append(list, "failed")
	case err != nil:
		t.Errorf("error %v is of no kind a codec may return", err)
	}
	return list
}

func words(op ws.OpCode, payload []byte) string {
	names := map[ws.OpCode]string{ws.OpText: "text", ws.OpBinary: "binary", ws.OpClose: "close", ws.OpPing: "ping", ws.OpPong: "pong"}
	name, ok := names[op]
	if !ok {
		name = fmt.Sprintf("opcode %d", op)
	}
	if op == ws.OpClose && len(payload) >= 2 {
		return fmt.Sprintf("close %d%s", binary.BigEndian.Uint16(payload), payload[2:])
	}
	return strings.TrimSpace(name + " " + string(payload))
}

// splits are ways to cut a stream into calls. A long one is not cut into bytes.
func splits(b []byte) map[string][][]byte {
	list := map[string][][]byte{"whole": {b}}
	if len(b) <= 200_000 {
		var each [][]byte
		for i := range b {
			each = append(each, b[i:i+1])
		}
		list["bytes"] = each
	}
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var calls [][]byte
		for rest := b; len(rest) > 0; {
			n := 1 + rng.IntN(1+len(rest)/(1+rng.IntN(8)))
			n = min(n, len(rest))
			calls = append(calls, rest[:n])
			rest = rest[n:]
		}
		list[fmt.Sprint("random ", seed)] = calls
	}
	return list
}

// response parses what a server says in HTTP.
func response(t testing.TB, out []byte) *http.Response {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(out)), nil)
	if err != nil {
		t.Fatalf("%q is no response: %v", out, err)
	}
	return r
}
