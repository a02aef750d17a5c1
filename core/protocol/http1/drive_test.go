package http1_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// heard is what became of a stream that a codec was fed: the messages in it,
// what the codec itself answered, and the error that ended it.
type heard struct {
	messages []string
	out      string
	err      error
}

func (h heard) String() string {
	return fmt.Sprintf("messages %.200q, answer %.400q, error %v", h.messages, h.out, h.err)
}

func (h heard) equal(x heard) bool {
	return slices.Equal(h.messages, x.messages) && h.out == x.out && fmt.Sprint(h.err) == fmt.Sprint(x.err)
}

// feed hands stream to a codec in the calls that cuts make of it. With answers,
// each message is answered with itself.
func feed(c protocol.Codec, stream []byte, cuts []int, answers bool) (h heard) {
	var inbox protocol.Inbox
	from := 0
	for _, at := range append(cuts, len(stream)) {
		in := bytes.Clone(stream[from:at])
		for rest := in; len(rest) > 0; {
			msg, used, out, err := inbox.Next(c, rest, nil)
			h.out += string(out)
			if msg != nil {
				h.messages = append(h.messages, string(msg))
				if answers {
					h.out += string(c.Append(nil, msg, nil))
				}
			}
			if h.err = err; err != nil {
				return h
			}
			if used == 0 {
				break
			}
			rest = rest[used:]
		}
		clear(in) // it was lent for the call
		from = at
	}
	return h
}

// splits are the ways to cut a stream of n bytes: whole, byte at a time, in two
// at each place, and at random. A long one is cut in fewer ways.
func splits(n int) (list [][]int) {
	list = append(list, nil)
	if n <= 8<<10 {
		var each []int
		for i := 1; i < n; i++ {
			each = append(each, i)
		}
		list = append(list, each)
	}
	for i := 1; i < min(n, 600); i++ {
		if n > 64<<10 && i > 4 {
			break
		}
		list = append(list, []int{i}, []int{n - i})
	}
	for seed := range uint64(8) {
		list = append(list, randomCuts(n, seed))
	}
	return list
}

// randomCuts cut n bytes in parts whose usual length depends on the seed too.
func randomCuts(n int, seed uint64) (cuts []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	longest := 1 + n/(1+rng.IntN(20))
	for at := 1 + rng.IntN(longest); at < n; at += 1 + rng.IntN(longest) {
		cuts = append(cuts, at)
	}
	return cuts
}

// wantErrors holds a codec to the errors it may return.
func wantErrors(t *testing.T, h heard) {
	t.Helper()
	if h.err != nil && h.err != protocol.ErrClosed && !errors.Is(h.err, protocol.ErrMalformed) {
		t.Fatalf("error %v, want ErrClosed or one that wraps ErrMalformed", h.err)
	}
}

// serve feeds a stream to server codecs in every way to cut it, which must not
// matter, and answers each message with itself.
func serve(t *testing.T, p protocol.Protocol, stream string) heard {
	t.Helper()
	return everyWay(t, p.Server, stream, true)
}

// listen feeds a stream to client codecs in every way to cut it.
func listen(t *testing.T, p protocol.Protocol, stream string) heard {
	t.Helper()
	return everyWay(t, p.Client, stream, false)
}

func everyWay(t *testing.T, codec func() protocol.Codec, stream string, answers bool) (first heard) {
	t.Helper()
	for i, cuts := range splits(len(stream)) {
		h := feed(codec(), []byte(stream), cuts, answers)
		if i == 0 {
			first = h
		} else if !h.equal(first) {
			t.Fatalf("cut at %.100v the stream gives\n%v, whole\n%v", cuts, h, first)
		}
	}
	return first
}
