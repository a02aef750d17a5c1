package websocket_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

// Each length is sent in the shortest form, and masked as the end should.
func TestAppend(t *testing.T) {
	for _, end := range ends {
		for _, n := range []int{0, 1, 124, 125, 126, 127, 128, 65534, 65535, 65536, 65537, 1 << 20} {
			body := bytes.Repeat([]byte{7}, n)
			head := body[:min(n, 16)]
			out := end.open(t).Append([]byte("before"), head, body[len(head):])
			rest, ok := bytes.CutPrefix(out, []byte("before"))
			f, err := readFrame(bytes.NewReader(rest))
			if !ok || err != nil {
				t.Fatalf("%s: %d bytes became %.40q: %v", end.name, n, out, err)
			}
			want := ws.Header{Fin: true, OpCode: ws.OpBinary, Masked: end.client, Mask: f.Header.Mask, Length: int64(n)}
			if f.Header != want {
				t.Errorf("%s: %d bytes: header %+v, want %+v", end.name, n, f.Header, want)
			}
			if got, want := len(rest), ws.HeaderSize(want)+n; got != want {
				t.Errorf("%s: %d bytes became %d, want %d", end.name, n, got, want)
			}
			if end.client {
				f = ws.UnmaskFrameInPlace(f)
			}
			if !bytes.Equal(f.Payload, body) {
				t.Errorf("%s: %d bytes do not arrive as they were", end.name, n)
			}
		}
	}
}

// A message in one frame lies in the input and ends where it ends.
func TestMessageIsASliceOfInput(t *testing.T) {
	for _, end := range ends {
		in := stream([]piece{whole(bin, "message"), whole(bin, "next")}, !end.client)
		msg, used, out, err := end.open(t).Next(in, []byte("out"))
		if string(msg) != "message" || string(out) != "out" || err != nil {
			t.Fatalf("%s: Next = %q, %d, %q, %v", end.name, msg, used, out, err)
		}
		if &msg[0] != &in[used-len(msg)] || cap(msg) != len(msg) {
			t.Errorf("%s: the message is no slice of in that ends where the message does", end.name)
		}
	}
}

// Input that is not a whole unit is left as it is.
func TestIncompleteInputIsLeftAlone(t *testing.T) {
	for _, end := range ends {
		in := whole(bin, strings.Repeat("x", 300))(!end.client)
		for n := range in {
			c := end.open(t)
			part := bytes.Clone(in[:n])
			msg, used, out, err := c.Next(part, nil)
			if msg != nil || used != 0 || len(out) > 0 || err != nil || !bytes.Equal(part, in[:n]) {
				t.Fatalf("%s: Next of %d bytes of %d = %q, %d, %q, %v", end.name, n, len(in), msg, used, out, err)
			}
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	for _, end := range ends {
		for name, in := range map[string][]piece{
			"message":   {whole(bin, strings.Repeat("x", 1024))},
			"text":      {whole(text, strings.Repeat("x", 1024))},
			"fragments": {part(text, strings.Repeat("x", 700)), whole(ping, "p"), part(cont, "ä"), whole(cont, "x")},
		} {
			c := end.open(t)
			sent := stream(in, !end.client)
			var now, out []byte
			run := func() {
				now, out = append(now[:0], sent...), out[:0]
				for rest := now; len(rest) > 0; {
					msg, used, o, err := c.Next(rest, out)
					if err != nil || used == 0 {
						t.Fatalf("%s %s: used %d, error %v", end.name, name, used, err)
					}
					out, rest = o, rest[used:]
					if msg != nil {
						out = c.Append(out, msg, nil)
					}
				}
			}
			if n := testing.AllocsPerRun(100, run); n != 0 {
				t.Errorf("%s: %g allocations for a %s, want 0", end.name, n, name)
			}
		}
	}
}

func TestProtocol(t *testing.T) {
	plain, secure := websocket.Protocol(), websocket.Secure()
	if plain.Name != "websocket" || plain.TLS || secure.Name != "wss" || !secure.TLS {
		t.Errorf("the protocols are %q (TLS %t) and %q (TLS %t)", plain.Name, plain.TLS, secure.Name, secure.TLS)
	}
	for _, p := range []protocol.Protocol{plain, secure} {
		if p.Network != "tcp" || p.MaxPayload != websocket.MaxPayload || p.Datagram || p.Mirror {
			t.Errorf("%s: %+v", p.Name, p)
		}
		if c := p.Server(); c.Ready() {
			t.Errorf("%s: a server is ready before the upgrade", p.Name)
		}
		if out, err := p.Server().Open([]byte("x")); string(out) != "x" || err != nil {
			t.Errorf("%s: Open of a server = %q, %v; want nothing said", p.Name, out, err)
		}
		// The record names the library in the version that is built in.
		path, version, _ := strings.Cut(p.Stack["websocket"], "@")
		mod, err := os.ReadFile("../../../go.mod")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(mod), path+" "+version) {
			t.Errorf("%s: go.mod does not require %s at %s", p.Name, path, version)
		}
	}
}
