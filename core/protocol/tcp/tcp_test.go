package tcp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

func TestAppend(t *testing.T) {
	c := tcp.Protocol().Client()
	out := c.Append([]byte("before"), []byte("head"), []byte("body!"))
	if got, want := string(out), "before\x00\x00\x00\x09headbody!"; got != want {
		t.Errorf("Append = %q, want %q", got, want)
	}
	out = c.Append(nil, []byte("head"), nil)
	if got, want := string(out), "\x00\x00\x00\x04head"; got != want {
		t.Errorf("Append without a body = %q, want %q", got, want)
	}
}

func TestNext(t *testing.T) {
	c := tcp.Protocol().Server()
	in := []byte("\x00\x00\x00\x03abc\x00\x00\x00\x01d")
	msg, used, out, err := c.Next(in, []byte("out"))
	if string(msg) != "abc" || used != 7 || string(out) != "out" || err != nil {
		t.Errorf("Next = %q, %d, %q, %v; want \"abc\", 7, \"out\", nil", msg, used, out, err)
	}
	if &msg[0] != &in[4] || cap(msg) != 3 {
		t.Error("the message is no slice of in that ends where the message does")
	}
	for n := range 7 {
		msg, used, _, err := c.Next(in[:n], nil)
		if msg != nil || used != 0 || err != nil {
			t.Errorf("Next of %d bytes of 7 = %q, %d, %v; want it to wait for more", n, msg, used, err)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, n := range []uint32{0, tcp.MaxPayload + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		// The length alone decides: nobody waits for gigabytes.
		msg, used, _, err := tcp.Protocol().Server().Next(binary.BigEndian.AppendUint32(nil, n), nil)
		if msg != nil || used != 0 || !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("length %d: %d bytes, used %d, error %v; want ErrMalformed", n, len(msg), used, err)
		}
	}
	for _, n := range []int{1, 16, tcp.MaxPayload} {
		want := bytes.Repeat([]byte{7}, n)
		c := tcp.Protocol().Client()
		stream := c.Append(nil, want[:1], want[1:])
		msg, used, _, err := c.Next(stream, nil)
		if err != nil || used != len(stream) || !bytes.Equal(msg, want) {
			t.Errorf("length %d: %d bytes, used %d, error %v", n, len(msg), used, err)
		}
	}
}

func TestProtocol(t *testing.T) {
	p := tcp.Protocol()
	if p.Name != "tcp" || p.Network != "tcp" || p.MaxPayload != tcp.MaxPayload || p.Datagram {
		t.Errorf("Protocol() = %+v", p)
	}
	for name, c := range map[string]protocol.Codec{"server": p.Server(), "client": p.Client()} {
		out, err := c.Open([]byte("x"))
		if string(out) != "x" || err != nil || !c.Ready() {
			t.Errorf("%s: Open = %q, %v, Ready = %t; want nothing sent and ready at once", name, out, err, c.Ready())
		}
		if got := len(c.Append(nil, []byte("1234"), []byte("5678"))) - 8; got != p.Overhead {
			t.Errorf("%s: the framing of a message is %d bytes, Overhead says %d", name, got, p.Overhead)
		}
	}
	// Mirror: both ends frame a message alike.
	up := p.Client().Append(nil, []byte("head"), []byte("body"))
	down := p.Server().Append(nil, []byte("head"), []byte("body"))
	if p.Mirror && !bytes.Equal(up, down) {
		t.Errorf("the protocol mirrors, yet the client sends % x and the server % x", up, down)
	}
}

func TestNothingAllocates(t *testing.T) {
	c := tcp.Protocol().Server()
	msg := make([]byte, 1024)
	out := c.Append(nil, msg, nil)
	if n := testing.AllocsPerRun(100, func() {
		out = c.Append(out[:0], msg[:16], msg[16:])
		if _, used, _, err := c.Next(out, nil); used != len(out) || err != nil {
			t.Fatalf("used %d, error %v", used, err)
		}
	}); n != 0 {
		t.Errorf("%g allocations for a message, want 0", n)
	}
}

func FuzzTCP(f *testing.F) {
	c := tcp.Protocol().Server()
	f.Add(c.Append(nil, []byte("head"), []byte("body")))
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0, 0, 0, 2, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		msg, used, out, err := c.Next(in, nil)
		switch {
		case err != nil:
			if !errors.Is(err, protocol.ErrMalformed) {
				t.Fatalf("error %v, want ErrMalformed", err)
			}
			if n := binary.BigEndian.Uint32(in); n > 0 && n <= tcp.MaxPayload {
				t.Fatalf("length %d was refused: %v", n, err)
			}
		case used == 0:
			if len(in) >= 4 && int(binary.BigEndian.Uint32(in)) <= len(in)-4 {
				t.Fatalf("a whole unit was not seen in % x", in)
			}
		default:
			if again := c.Append(nil, msg, nil); !bytes.Equal(again, in[:used]) {
				t.Fatalf("encoding %x again gives % x, want % x", msg, again, in[:used])
			}
		}
		if len(out) > 0 || !bytes.Equal(in, was) {
			t.Fatal("decoding wrote something")
		}
	})
}
