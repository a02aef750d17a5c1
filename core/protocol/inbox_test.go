package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

// splits calls f with stream cut into calls in every way that matters: whole,
// byte at a time, at each of its first and last places, and at random (a long
// one in fewer ways).
func splits(t *testing.T, stream []byte, f func(t *testing.T, calls [][]byte)) {
	t.Helper()
	run := func(name string, cuts ...int) {
		t.Run(name, func(t *testing.T) {
			var calls [][]byte
			from := 0
			for _, at := range append(cuts, len(stream)) {
				calls = append(calls, bytes.Clone(stream[from:at]))
				from = at
			}
			f(t, calls)
		})
	}
	run("whole")
	if len(stream) <= 4<<10 {
		var each []int
		for i := 1; i < len(stream); i++ {
			each = append(each, i)
		}
		run("byte at a time", each...)
	}
	places := min(len(stream), 300)
	if len(stream) > 64<<10 {
		places = 6 // beyond the length of the first and the last message
	}
	for i := range places {
		run(fmt.Sprintf("cut at %d", i), i)
		run(fmt.Sprintf("cut at %d from the end", i), len(stream)-i)
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var cuts []int
		for at := 0; ; {
			at += 1 + rng.IntN(1+len(stream)/(1+rng.IntN(10)))
			if at >= len(stream) {
				break
			}
			cuts = append(cuts, at)
		}
		run(fmt.Sprintf("random %d", seed), cuts...)
	}
}

// messages are n different ones of the given length.
func messages(n, length int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = make([]byte, length)
		rand.NewChaCha8([32]byte{byte(i), byte(length)}).Read(list[i])
	}
	return list
}

// framed is the stream that carries list.
func framed(list [][]byte) []byte {
	c := tcp.Protocol().Client()
	var out []byte
	for _, msg := range list {
		out = c.Append(out, msg[:1], msg[1:])
	}
	return out
}

// take takes all units out of one call's input. The messages are not copied:
// each is to stay valid until the whole call is decoded.
func take(b *protocol.Inbox, c protocol.Codec, in []byte) (list [][]byte, err error) {
	for len(in) > 0 {
		msg, used, _, err := b.Next(c, in, nil)
		if err != nil || used == 0 {
			return list, err
		}
		list = append(list, msg)
		in = in[used:]
	}
	return list, nil
}

// decode hands the calls to a fresh inbox and returns copies of the messages.
func decode(t *testing.T, calls [][]byte) (list [][]byte, b *protocol.Inbox) {
	t.Helper()
	b = new(protocol.Inbox)
	c := tcp.Protocol().Server()
	for _, in := range calls {
		got, err := take(b, c, in)
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		for _, msg := range got {
			list = append(list, bytes.Clone(msg))
		}
		clear(in) // it was lent for the call
	}
	return list, b
}

func TestInboxSplits(t *testing.T) {
	for name, want := range map[string][][]byte{
		"one small":     messages(1, 1),
		"glued":         messages(2, 20),
		"many small":    messages(40, 16),
		"mixed":         append(messages(3, 700), append(messages(1, 1), messages(2, 511)...)...),
		"one of 1 MiB":  messages(1, 1<<20),
		"two of 1 MiB":  messages(2, 1<<20),
		"big and small": append(messages(1, 1<<20), messages(20, 30)...),
	} {
		t.Run(name, func(t *testing.T) {
			splits(t, framed(want), func(t *testing.T, calls [][]byte) {
				got, b := decode(t, calls)
				if len(got) != len(want) {
					t.Fatalf("%d messages came out, want %d", len(got), len(want))
				}
				for i := range want {
					if !bytes.Equal(got[i], want[i]) {
						t.Fatalf("message %d differs: %d bytes, want %d", i, len(got[i]), len(want[i]))
					}
				}
				if !b.Empty() {
					t.Error("the inbox still keeps something")
				}
			})
		})
	}
}

func TestInboxEmpty(t *testing.T) {
	b, c := new(protocol.Inbox), tcp.Protocol().Server()
	if !b.Empty() {
		t.Error("a new inbox is not empty")
	}
	stream := framed(messages(1, 10))
	if got, err := take(b, c, stream[:5]); len(got) != 0 || err != nil || b.Empty() {
		t.Errorf("half a message: %d messages, error %v, empty %t; want 0, nil, false", len(got), err, b.Empty())
	}
	if got, err := take(b, c, nil); len(got) != 0 || err != nil || b.Empty() {
		t.Errorf("then nothing: %d messages, error %v, empty %t; want 0, nil, false", len(got), err, b.Empty())
	}
	if got, err := take(b, c, stream[5:]); len(got) != 1 || err != nil || !b.Empty() {
		t.Errorf("then its end: %d messages, error %v, empty %t; want 1, nil, true", len(got), err, b.Empty())
	}
}

// A message that began in an earlier call lies in the inbox, not in the call's
// input; the beginning that the same call leaves must not be put on top of it.
func TestInboxKeepsJoinedMessage(t *testing.T) {
	want := messages(3, 100)
	stream := framed(want)
	b, c := new(protocol.Inbox), tcp.Protocol().Server()
	for range 3 { // the buffers have to be as safe once they are reused
		if _, err := take(b, c, stream[:50]); err != nil {
			t.Fatal(err)
		}
		got, err := take(b, c, stream[50:250])
		if err != nil || len(got) != 2 {
			t.Fatalf("%d messages, error %v; want 2, nil", len(got), err)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("message %d was overwritten before its call was over", i)
			}
			for j := range got[i] {
				got[i][j] = 0xee // a message may be rewritten in place
			}
		}
		got, err = take(b, c, stream[250:])
		if err != nil || len(got) != 1 || !bytes.Equal(got[0], want[2]) {
			t.Fatalf("the message kept meanwhile: got %x, error %v", got, err)
		}
		stream = framed(want)
	}
}

// A message must not reach into what lies behind it.
func TestInboxMessageEndsWhereItEnds(t *testing.T) {
	b, c := new(protocol.Inbox), tcp.Protocol().Server()
	stream := framed(messages(3, 10))
	if _, err := take(b, c, stream[:3]); err != nil {
		t.Fatal(err)
	}
	got, err := take(b, c, stream[3:])
	if err != nil || len(got) != 3 {
		t.Fatalf("%d messages, error %v; want 3, nil", len(got), err)
	}
	for i, msg := range got {
		if cap(msg) != len(msg) {
			t.Errorf("message %d has capacity %d behind its %d bytes", i, cap(msg), len(msg))
		}
	}
}

// counted is a codec that counts what it is shown of the kept beginning.
type counted struct {
	protocol.Codec
	shown []int // length of in, each time
}

func (c *counted) Next(in, out []byte) ([]byte, int, []byte, error) {
	c.shown = append(c.shown, len(in))
	return c.Codec.Next(in, out)
}

func TestInboxCopiesLittle(t *testing.T) {
	for _, length := range []int{60, 1020, 16380, 100_000} {
		list := messages(1+(256<<10)/length, length)
		stream := framed(list)[:256<<10]
		b, c := new(protocol.Inbox), &counted{Codec: tcp.Protocol().Server()}
		if _, err := take(b, c, bytes.Clone(stream[:3])); err != nil {
			t.Fatal(err)
		}
		c.shown = nil
		msg, used, _, err := b.Next(c, stream[3:], nil)
		if err != nil || !bytes.Equal(msg, list[0]) {
			t.Fatalf("payload %d: error %v, %d bytes", length, err, len(msg))
		}
		if want := 1 + length; used != want {
			t.Errorf("payload %d: %d bytes were used, want %d", length, used, want)
		}
		// The last look is at all that was copied together.
		joined, most := c.shown[len(c.shown)-1], max(2*(4+length), 3+512)
		if joined > most {
			t.Errorf("payload %d: %d bytes were copied together for a unit of %d, want at most %d", length, joined, 4+length, most)
		}
		if looks := len(c.shown); looks > 10 {
			t.Errorf("payload %d: the codec was asked %d times for one unit", length, looks)
		}
	}
}

func TestInboxAllocatesNothingOnceWarm(t *testing.T) {
	stream := framed(messages(16, 1000))
	b, c := new(protocol.Inbox), tcp.Protocol().Server()
	call := func(in []byte) {
		for len(in) > 0 {
			_, used, _, err := b.Next(c, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if used == 0 {
				return
			}
			in = in[used:]
		}
	}
	trip := func() { // three cuts, none between messages
		call(stream[:2500])
		call(stream[2500:9999])
		call(stream[9999:])
	}
	trip()
	if n := testing.AllocsPerRun(100, trip); n != 0 {
		t.Errorf("%g allocations for 16 messages in three calls, want 0", n)
	}
}

func TestInboxMalformed(t *testing.T) {
	good := framed(messages(2, 10))
	for name, bad := range map[string][]byte{
		"zero":      {0, 0, 0, 0},
		"too long":  binary.BigEndian.AppendUint32(nil, tcp.MaxPayload+1),
		"all ones":  {0xff, 0xff, 0xff, 0xff},
		"text":      []byte("GET / HTTP/1.1\r\n"),
		"shortened": append(append([]byte{}, good[:10]...), good...),
	} {
		t.Run(name, func(t *testing.T) {
			stream := append(bytes.Clone(good), bad...)
			for cut := range len(stream) {
				b, c := new(protocol.Inbox), tcp.Protocol().Server()
				first, err := take(b, c, bytes.Clone(stream[:cut]))
				n := len(first)
				if err == nil {
					var rest [][]byte
					rest, err = take(b, c, bytes.Clone(stream[cut:]))
					n += len(rest)
				}
				if !errors.Is(err, protocol.ErrMalformed) {
					t.Fatalf("cut at %d: error %v, want ErrMalformed", cut, err)
				}
				if n < 2 {
					t.Errorf("cut at %d: %d good messages came out before the error, want 2", cut, n)
				}
			}
		})
	}
}

// control is a codec whose units are single bytes: small letters are messages,
// capitals are control units, answered by the codec itself.
type control struct{}

func (control) Open(out []byte) ([]byte, error) { return out, nil }
func (control) Ready() bool                     { return true }
func (control) Append(out, head, body []byte) []byte {
	return append(append(out, head...), body...)
}
func (control) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	switch {
	case len(in) < 2: // a unit is a letter and a full stop
		return nil, 0, out, nil
	case in[0] < 'a':
		return nil, 2, append(out, in[0]+'a'-'A'), nil
	}
	return in[:1:1], 2, out, nil
}

func TestInboxControlUnits(t *testing.T) {
	splits(t, []byte("A.x.B.C.y."), func(t *testing.T, calls [][]byte) {
		b := new(protocol.Inbox)
		var got, out []byte
		for _, in := range calls {
			for len(in) > 0 {
				msg, used, o, err := b.Next(control{}, in, out)
				out = o
				if err != nil {
					t.Fatal(err)
				}
				if used == 0 {
					break
				}
				got = append(got, msg...)
				in = in[used:]
			}
		}
		if string(got) != "xy" || string(out) != "abc" {
			t.Errorf("messages %q, answers %q; want \"xy\", \"abc\"", got, out)
		}
	})
}

// plain decodes a stream that is all there, by the book.
func plain(stream []byte) (list [][]byte, malformed bool) {
	for len(stream) >= 4 {
		n := binary.BigEndian.Uint32(stream)
		if n == 0 || n > tcp.MaxPayload {
			return list, true
		}
		if uint64(len(stream)-4) < uint64(n) {
			break
		}
		list = append(list, stream[4:4+n])
		stream = stream[4+n:]
	}
	return list, false
}

func FuzzInbox(f *testing.F) {
	f.Add(framed(messages(2, 20)), uint64(1))
	f.Add(framed(messages(40, 16)), uint64(2))
	f.Add(framed(messages(3, 3000))[:5000], uint64(3))
	f.Add([]byte{0, 0, 0, 1, 7, 0, 0, 0, 0}, uint64(4))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want, malformed := plain(stream)
		b, c := new(protocol.Inbox), tcp.Protocol().Server()
		rng := rand.New(rand.NewPCG(seed, 0))
		var got [][]byte
		var err error
		for from := 0; from < len(stream) && err == nil; {
			to := from + 1 + rng.IntN(len(stream)-from)
			var list [][]byte
			list, err = take(b, c, bytes.Clone(stream[from:to]))
			for _, msg := range list {
				got = append(got, bytes.Clone(msg))
			}
			from = to
		}
		if malformed != (err != nil) || err != nil && !errors.Is(err, protocol.ErrMalformed) {
			t.Fatalf("error %v; want ErrMalformed: %t", err, malformed)
		}
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("message %d is % x, want % x", i, got[i], want[i])
			}
		}
	})
}
