package message_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/netmatrix/netmatrix/core/message"
)

func TestHeaderRoundTrip(t *testing.T) {
	for _, want := range []message.Header{
		{},
		{Client: 1, Seq: 2, Result: 3},
		{Client: math.MaxUint32, Seq: math.MaxUint32, Result: math.MaxUint32},
		{Client: 0x01020304, Seq: 0x05060708, Result: 0x090a0b0c},
	} {
		b := bytes.Repeat([]byte{0xee}, message.HeaderBytes+4)
		want.Put(b)
		if !bytes.Equal(b[message.HeaderBytes:], []byte{0xee, 0xee, 0xee, 0xee}) {
			t.Errorf("Put(%+v) wrote behind the header: % x", want, b)
		}
		got, ok := message.Parse(b)
		if !ok || got != want {
			t.Errorf("Parse(Put(%+v)) = %+v, %t", want, got, ok)
		}
	}
}

// The layout is a contract with servers written in other languages.
func TestHeaderLayout(t *testing.T) {
	var b [message.HeaderBytes]byte
	message.Header{Client: 0x01020304, Seq: 0x05060708, Result: 0x090a0b0c}.Put(b[:])
	want := []byte{'n', 'm', 'x', '1', 4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9}
	if !bytes.Equal(b[:], want) {
		t.Errorf("Put wrote % x, want % x", b, want)
	}
	message.PutResult(b[:], 0x11121314)
	copy(want[12:], []byte{0x14, 0x13, 0x12, 0x11})
	if !bytes.Equal(b[:], want) {
		t.Errorf("PutResult left % x, want % x", b, want)
	}
}

func TestParseGarbage(t *testing.T) {
	var whole [message.HeaderBytes]byte
	message.Header{Client: 7}.Put(whole[:])
	for n := range message.HeaderBytes {
		if h, ok := message.Parse(whole[:n]); ok {
			t.Errorf("Parse took %d of %d bytes as %+v", n, message.HeaderBytes, h)
		}
	}
	for i := range 4 {
		b := whole
		b[i] ^= 0x40
		if h, ok := message.Parse(b[:]); ok {
			t.Errorf("Parse took a magic number with byte %d wrong as %+v", i, h)
		}
	}
	if h, ok := message.Parse(make([]byte, 1024)); ok {
		t.Errorf("Parse took zeros as %+v", h)
	}
}

const payload = 64

// whole is the message that belongs to client and seq.
func whole(b *message.Bodies, client, seq uint32) []byte {
	msg := make([]byte, message.HeaderBytes, payload)
	message.Header{Client: client, Seq: seq}.Put(msg)
	return append(msg, b.Body(client, seq)...)
}

func TestBodiesOfNeighboursDiffer(t *testing.T) {
	b := message.NewBodies(1, payload)
	// All that may be in flight at once on neighbouring connections, and
	// across the wrap of the sequence number.
	seen := make(map[string][2]uint32)
	for client := range uint32(16) {
		for i := range uint32(64) {
			seq := i - 32
			body := string(b.Body(client, seq))
			if was, ok := seen[body]; ok {
				t.Fatalf("client %d message %d has the body of client %d message %d", client, seq, was[0], was[1])
			}
			seen[body] = [2]uint32{client, seq}
		}
	}
	seen = make(map[string][2]uint32)
	for seq := range uint32(4096) {
		body := string(b.Body(5, seq))
		if was, ok := seen[body]; ok {
			t.Fatalf("message %d has the body of message %d", seq, was[1])
		}
		seen[body] = [2]uint32{5, seq}
	}
}

func TestBodiesEqual(t *testing.T) {
	b := message.NewBodies(1, payload)
	msg := whole(b, 3, 4)
	if !b.Equal(msg, 3, 4) {
		t.Fatal("Equal refuses the right body")
	}
	if b.Equal(msg, 3, 5) || b.Equal(msg, 4, 4) {
		t.Error("Equal takes the body of another message")
	}
	if b.Equal(msg[:payload-1], 3, 4) || b.Equal(append(msg, 0), 3, 4) || b.Equal(nil, 3, 4) {
		t.Error("Equal takes a message of the wrong length")
	}
	for i := message.HeaderBytes; i < payload; i++ {
		msg[i] ^= 1
		if b.Equal(msg, 3, 4) {
			t.Errorf("Equal does not see that byte %d is wrong", i)
		}
		msg[i] ^= 1
	}
}

func TestBodiesFollowSeed(t *testing.T) {
	a, same, other := message.NewBodies(1, payload), message.NewBodies(1, payload), message.NewBodies(2, payload)
	if !bytes.Equal(a.Body(1, 1), same.Body(1, 1)) {
		t.Error("one seed gives two bodies")
	}
	if bytes.Equal(a.Body(1, 1), other.Body(1, 1)) {
		t.Error("two seeds give one body")
	}
}

func TestBodiesOfEveryLength(t *testing.T) {
	for _, n := range []int{message.HeaderBytes, message.HeaderBytes + 1, 1024, 65507, 16 << 20} {
		b := message.NewBodies(1, n)
		for _, seq := range []uint32{0, 1, 4095, math.MaxUint32} {
			body := b.Body(9, seq)
			if got, want := len(body), n-message.HeaderBytes; got != want || cap(body) != want {
				t.Errorf("payload %d: a body has length %d and capacity %d, want %d for both", n, got, cap(body), want)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("NewBodies took a payload without room for the header")
		}
	}()
	message.NewBodies(1, message.HeaderBytes-1)
}

func TestChosenIsOneIn64(t *testing.T) {
	const n = 64 * 1024
	for _, seed := range []uint64{0, 1, 1 << 40} {
		b := message.NewBodies(seed, payload)
		for client := range uint32(4) {
			chosen, gap, longest := 0, 0, 0
			for seq := range uint32(n) {
				gap++
				if b.Chosen(client, seq) {
					chosen++
					gap = 0
				}
				longest = max(longest, gap)
			}
			// Chance alone stays within 5 standard deviations of 64; the hash does better.
			if chosen < n/64-160 || chosen > n/64+160 {
				t.Errorf("seed %d client %d: %d of %d chosen, want about %d", seed, client, chosen, n, n/64)
			}
			if longest > 64*16 {
				t.Errorf("seed %d client %d: none of %d messages in a row chosen", seed, client, longest)
			}
		}
	}
}

func TestChosenFollowsSeedAndClient(t *testing.T) {
	a, b := message.NewBodies(1, payload), message.NewBodies(2, payload)
	differs := func(f, g func(seq uint32) bool) bool {
		for seq := range uint32(1024) {
			if f(seq) != g(seq) {
				return true
			}
		}
		return false
	}
	of := func(b *message.Bodies, client uint32) func(uint32) bool {
		return func(seq uint32) bool { return b.Chosen(client, seq) }
	}
	if !differs(of(a, 1), of(b, 1)) {
		t.Error("two seeds choose the same messages")
	}
	if !differs(of(a, 1), of(a, 2)) {
		t.Error("two connections have the same messages chosen")
	}
	if differs(of(a, 1), of(message.NewBodies(1, payload), 1)) {
		t.Error("one seed chooses different messages")
	}
}

func TestNothingAllocates(t *testing.T) {
	b := message.NewBodies(1, payload)
	msg := whole(b, 1, 1)
	if n := testing.AllocsPerRun(100, func() {
		h, _ := message.Parse(msg)
		h.Put(msg)
		message.PutResult(msg, 1)
		b.Equal(msg, 1, 1)
		b.Chosen(1, 1)
	}); n != 0 {
		t.Errorf("%g allocations for a message, want 0", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole(message.NewBodies(1, payload), 1, 2))
	f.Add([]byte("nmx1"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := message.Parse(b)
		if !ok {
			return
		}
		var again [message.HeaderBytes]byte
		h.Put(again[:])
		if !bytes.Equal(again[:], b[:message.HeaderBytes]) {
			t.Errorf("Put(Parse(% x)) = % x", b[:message.HeaderBytes], again)
		}
	})
}
