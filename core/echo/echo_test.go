package echo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
	"github.com/netmatrix/netmatrix/core/transport"
)

// plain is tcp without the right to answer in place.
func plain() protocol.Protocol {
	p := tcp.Protocol()
	p.Mirror = false
	return p
}

// requests are n framed messages of different lengths, and one by one.
func requests(n int) (stream []byte, each [][]byte) {
	for i := range n {
		b := message.NewBodies(1, message.HeaderBytes+i*37%200)
		var head [message.HeaderBytes]byte
		message.Header{Client: 1, Seq: uint32(i)}.Put(head[:])
		each = append(each, tcp.Protocol().Client().Append(nil, head[:], b.Body(1, uint32(i))))
		stream = append(stream, each[i]...)
	}
	return stream, each
}

// answers is what a server with that much work says to requests(n).
func answers(n int, work int64) []byte {
	stream, each := requests(n)
	at := 0
	for i, unit := range each {
		message.PutResult(stream[at+4:], message.NewWork(work).Do(1, uint32(i)))
		at += len(unit)
	}
	return stream
}

func open(t *testing.T, s *echo.Server) transport.Session {
	t.Helper()
	x := s.Session()
	out, err := x.Open(nil)
	if len(out) > 0 || err != nil {
		t.Fatalf("Open = % x, %v; want nothing", out, err)
	}
	return x
}

// talk hands stream to a session in the calls that cuts make of it and returns
// all it answered.
func talk(t *testing.T, x transport.Session, stream []byte, cuts []int) []byte {
	t.Helper()
	var all []byte
	from := 0
	for _, at := range append(cuts, len(stream)) {
		in := bytes.Clone(stream[from:at])
		out, err := x.Data(in, nil)
		if err != nil {
			t.Fatalf("Data of bytes %d to %d: %v", from, at, err)
		}
		all = append(all, out...)
		clear(in)
		from = at
	}
	return all
}

// splits are the ways to cut a stream: whole, byte at a time, in two at each
// place, and at random.
func splits(n int) [][]int {
	list := [][]int{nil, {}}
	for i := 1; i < n; i++ {
		list[1] = append(list[1], i)
		list = append(list, []int{i})
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var cuts []int
		for at := 1 + rng.IntN(100); at < n; at += 1 + rng.IntN(100) {
			cuts = append(cuts, at)
		}
		list = append(list, cuts)
	}
	return list
}

func TestEverySplitGivesTheSameAnswers(t *testing.T) {
	const n = 8
	stream, _ := requests(n)
	for _, work := range []int64{0, 10} {
		want := answers(n, work)
		for name, cfg := range map[string]echo.Config{
			"stream":     {Protocol: plain(), Work: work},
			"mirror":     {Protocol: tcp.Protocol(), Work: work},
			"batch of 1": {Protocol: tcp.Protocol(), Work: work, Batch: 1},
			"batch of 2": {Protocol: tcp.Protocol(), Work: work, Batch: 2},
			"batch of 8": {Protocol: plain(), Work: work, Batch: 8},
		} {
			t.Run(fmt.Sprintf("%s work %d", name, work), func(t *testing.T) {
				for _, cuts := range splits(len(stream)) {
					s := echo.NewServer(cfg)
					if got := talk(t, open(t, s), stream, cuts); !bytes.Equal(got, want) {
						t.Fatalf("cut at %v: %d bytes came back, want %d; the first wrong one is %d", cuts, len(got), len(want), differ(got, want))
					}
					if c := s.Counts(); c.Messages != n || c.Reads != int64(len(cuts)+1) {
						t.Fatalf("cut at %v: %d messages in %d reads counted, want %d in %d", cuts, c.Messages, c.Reads, n, len(cuts)+1)
					}
				}
			})
		}
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestBatchWaitsForTheWholeBatch(t *testing.T) {
	_, each := requests(5)
	s := echo.NewServer(echo.Config{Protocol: tcp.Protocol(), Batch: 4})
	x := open(t, s)
	for i, unit := range each {
		out, err := x.Data(bytes.Clone(unit), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.Join(each[:4], nil); i == 3 && !bytes.Equal(out, want) {
			t.Errorf("after message %d of a batch of 4: %d bytes came back, want %d", i+1, len(out), len(want))
		} else if i != 3 && len(out) > 0 {
			t.Errorf("after message %d of a batch of 4: %d bytes came back too early", i+1, len(out))
		}
		if got, want := s.Counts().Messages, int64((i+1)/4*4); got != want {
			t.Errorf("after message %d: %d counted as answered, want %d", i+1, got, want)
		}
	}
}

// inside reports whether out is a slice of in.
func inside(out, in []byte) bool {
	return len(out) > 0 && &out[0] == &in[0]
}

func TestAnswersInPlaceOnlyWhereAllowed(t *testing.T) {
	stream, each := requests(3)
	half := len(each[0]) / 2
	for name, tc := range map[string]struct {
		cfg   echo.Config
		first []byte // an earlier call
		in    []byte
		out   []byte
		want  bool
	}{
		"all whole":        {echo.Config{Protocol: tcp.Protocol()}, nil, stream, make([]byte, 0, 4096), true},
		"the last cut":     {echo.Config{Protocol: tcp.Protocol()}, nil, stream[:len(stream)-1], nil, true},
		"with work":        {echo.Config{Protocol: tcp.Protocol(), Work: 3}, nil, stream, nil, true},
		"output waiting":   {echo.Config{Protocol: tcp.Protocol()}, nil, stream, []byte("before"), false},
		"the first cut":    {echo.Config{Protocol: tcp.Protocol()}, stream[:half], stream[half:], nil, false},
		"no mirror":        {echo.Config{Protocol: plain()}, nil, stream, nil, false},
		"batch":            {echo.Config{Protocol: tcp.Protocol(), Batch: 3}, nil, stream, nil, false},
		"after a cut call": {echo.Config{Protocol: tcp.Protocol()}, append(bytes.Clone(stream[:half]), stream[half:]...), stream, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := open(t, echo.NewServer(tc.cfg))
			if tc.first != nil {
				if _, err := x.Data(bytes.Clone(tc.first), nil); err != nil {
					t.Fatal(err)
				}
			}
			in := bytes.Clone(tc.in)
			out, err := x.Data(in, tc.out)
			if err != nil {
				t.Fatal(err)
			}
			if got := inside(out, in); got != tc.want {
				t.Errorf("the answer lies in the input: %t, want %t", got, tc.want)
			}
			if tc.want && cap(out) != len(out) {
				t.Errorf("the answer has %d bytes of the input behind it within reach", cap(out)-len(out))
			}
			if !bytes.HasPrefix(out, tc.out) {
				t.Errorf("what was in out is gone: it begins % x", out[:len(tc.out)])
			}
		})
	}
}

// Where nothing is answered, the runtime gets its own buffer back.
func TestOutputBufferIsNotLost(t *testing.T) {
	stream, _ := requests(1)
	room := make([]byte, 0, 64)
	out, err := open(t, echo.NewServer(echo.Config{Protocol: tcp.Protocol()})).Data(stream[:10], room)
	if len(out) > 0 || cap(out) != cap(room) || err != nil {
		t.Errorf("half a message: %d bytes and room for %d came back, error %v; want 0, %d, nil", len(out), cap(out), err, cap(room))
	}
}

func TestWorkIsPutIn(t *testing.T) {
	const work = 1000
	stream, _ := requests(3)
	out, err := open(t, echo.NewServer(echo.Config{Protocol: tcp.Protocol(), Work: work})).Data(stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint32(0); len(out) > 0; seq++ {
		n := 4 + int(binary.BigEndian.Uint32(out))
		h, ok := message.Parse(out[4:n])
		want := message.Header{Client: 1, Seq: seq, Result: message.NewWork(work).Do(1, seq)}
		if !ok || h != want {
			t.Errorf("message %d came back as %+v, want %+v", seq, h, want)
		}
		out = out[n:]
	}
}

func TestGarbageCloses(t *testing.T) {
	frame := func(msg string) []byte { return tcp.Protocol().Client().Append(nil, []byte(msg), nil) }
	good, _ := requests(2)
	for name, tc := range map[string]struct {
		garbage []byte
		work    int64
	}{
		"zero length":    {[]byte{0, 0, 0, 0}, 0},
		"huge length":    {[]byte{0xff, 0, 0, 0}, 0},
		"short message":  {frame("15 bytes of it."), 10},
		"no magic":       {frame("sixteen bytes and more"), 10},
		"short for work": {frame("x"), 10},
	} {
		for mode, cfg := range map[string]echo.Config{
			"stream": {Protocol: plain(), Work: tc.work},
			"mirror": {Protocol: tcp.Protocol(), Work: tc.work},
			"batch":  {Protocol: tcp.Protocol(), Work: tc.work, Batch: 2},
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				s := echo.NewServer(cfg)
				x := open(t, s)
				out, err := x.Data(append(bytes.Clone(good), tc.garbage...), nil)
				if !errors.Is(err, protocol.ErrMalformed) {
					t.Errorf("Data = %v, want ErrMalformed", err)
				}
				if want := answers(2, tc.work); !bytes.Equal(out, want) {
					t.Errorf("%d bytes were answered before the garbage, want %d", len(out), len(want))
				}
				x.Close(err)
				if got, want := s.Counts(), (echo.Counts{Opened: 1, Messages: 2, Reads: 1}); got != want {
					t.Errorf("Counts() = %+v, want %+v", got, want)
				}
			})
		}
	}
}

// A socket for datagrams is open to anyone: garbage is dropped and answered by
// nothing, and the others' datagrams are answered as before.
func TestGarbageDatagramIsDropped(t *testing.T) {
	for _, work := range []int64{0, 10} {
		s := echo.NewServer(echo.Config{Protocol: udp.Protocol(), Work: work})
		x := open(t, s)
		garbage := [][]byte{{}}
		if work > 0 {
			garbage = append(garbage, []byte("15 bytes of it."), []byte("sixteen bytes and more"))
		}
		for _, in := range garbage {
			if out, err := x.Data(in, nil); len(out) > 0 || err != nil {
				t.Errorf("work %d: %q was answered with %q, %v", work, in, out, err)
			}
		}
		var good [message.HeaderBytes]byte
		message.Header{Client: 1, Seq: 2}.Put(good[:])
		out, err := x.Data(good[:], nil)
		want := message.Header{Client: 1, Seq: 2, Result: message.NewWork(work).Do(1, 2)}
		if h, ok := message.Parse(out); !ok || h != want || err != nil {
			t.Errorf("work %d: a good datagram was answered with %+v, %v; want %+v", work, h, err, want)
		}
		if got := s.Counts(); got.Messages != 1 || got.Reads != int64(len(garbage)+1) {
			t.Errorf("work %d: %d messages in %d reads, want 1 in %d", work, got.Messages, got.Reads, len(garbage)+1)
		}
	}
}

// Without work nothing in a message is looked at: a server answers what a
// foreign client sends.
func TestForeignMessagesAreAnswered(t *testing.T) {
	for _, p := range []protocol.Protocol{tcp.Protocol(), plain()} {
		for _, text := range []string{"sixteen bytes and more", "short"} {
			msg := tcp.Protocol().Client().Append(nil, []byte(text), nil)
			out, err := open(t, echo.NewServer(echo.Config{Protocol: p})).Data(bytes.Clone(msg), nil)
			if err != nil || !bytes.Equal(out, msg) {
				t.Errorf("Data = %q, %v; want the message back", out, err)
			}
		}
	}
}

// closing is a codec whose second message is the last.
type closing struct {
	protocol.Codec
	messages int
}

func (c *closing) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	msg, used, o, err = c.Codec.Next(in, out)
	if used > 0 {
		c.messages++
	}
	if c.messages == 2 {
		err = protocol.ErrClosed
	}
	return msg, used, o, err
}

// When the protocol closes in good order, the last message is still answered,
// and nothing behind it.
func TestClosedInGoodOrder(t *testing.T) {
	p := plain()
	p.Server = func() protocol.Codec { return &closing{Codec: tcp.Protocol().Server()} }
	stream, each := requests(3)
	want := stream[:len(stream)-len(each[2])]
	for cut := range stream {
		s := echo.NewServer(echo.Config{Protocol: p})
		x := open(t, s)
		out, err := x.Data(bytes.Clone(stream[:cut]), nil)
		if err == nil {
			out, err = x.Data(bytes.Clone(stream[cut:]), bytes.Clone(out))
		}
		if !errors.Is(err, transport.ErrDone) || !bytes.Equal(out, want) {
			t.Fatalf("cut at %d: %d bytes were answered, error %v; want %d, %v", cut, len(out), err, len(want), transport.ErrDone)
		}
		if got := s.Counts().Messages; got != 2 {
			t.Errorf("cut at %d: %d messages, want 2", cut, got)
		}
	}
}

func TestEndAddsNothing(t *testing.T) {
	stream, _ := requests(1)
	x := open(t, echo.NewServer(echo.Config{Protocol: tcp.Protocol(), Batch: 2}))
	if _, err := x.Data(stream, nil); err != nil {
		t.Fatal(err)
	}
	if out, err := x.End([]byte("out")); string(out) != "out" || err != nil {
		t.Errorf("End = %q, %v; want out as it was", out, err)
	}
}

func TestCounts(t *testing.T) {
	s := echo.NewServer(echo.Config{Protocol: tcp.Protocol()})
	if got := s.Counts(); got != (echo.Counts{}) {
		t.Errorf("a new server counts %+v", got)
	}
	s.Session().Close(errors.New("never connected"))
	stream, _ := requests(3)
	x, y := open(t, s), open(t, s)
	talk(t, x, stream, nil)
	talk(t, y, stream, []int{5, 9})
	if got, want := s.Counts(), (echo.Counts{Opened: 2, Live: 2, Messages: 6, Reads: 4}); got != want {
		t.Errorf("two sessions: %+v, want %+v", got, want)
	}
	x.Close(nil)
	if got, want := s.Counts(), (echo.Counts{Opened: 2, Live: 1, Messages: 6, Reads: 4}); got != want {
		t.Errorf("one of them closed: %+v, want %+v", got, want)
	}
	talk(t, y, stream, nil)
	y.Close(errors.New("reset"))
	if got, want := s.Counts(), (echo.Counts{Opened: 2, Messages: 9, Reads: 5}); got != want {
		t.Errorf("both closed: %+v, want %+v", got, want)
	}
}

// Sessions live on different threads, and counts are read from yet another.
func TestCountsWhileSessionsRun(t *testing.T) {
	const sessions, calls, each = 8, 200, 3
	s := echo.NewServer(echo.Config{Protocol: tcp.Protocol()})
	stream, _ := requests(each)
	var all sync.WaitGroup
	for range sessions {
		all.Go(func() {
			x := s.Session()
			if _, err := x.Open(nil); err != nil {
				t.Error(err)
			}
			in := make([]byte, len(stream))
			for range calls {
				copy(in, stream)
				if _, err := x.Data(in, nil); err != nil {
					t.Error(err)
				}
			}
			x.Close(nil)
		})
	}
	var last echo.Counts
	for last.Messages < sessions*calls*each && !t.Failed() {
		c := s.Counts()
		if c.Messages < last.Messages || c.Opened < last.Opened || c.Reads < last.Reads {
			t.Errorf("counts went back from %+v to %+v", last, c)
		}
		last = c
	}
	all.Wait()
	if got, want := s.Counts(), (echo.Counts{Opened: sessions, Messages: sessions * calls * each, Reads: sessions * calls}); got != want {
		t.Errorf("Counts() = %+v, want %+v", got, want)
	}
}

func TestNothingAllocatesOnceWarm(t *testing.T) {
	stream, _ := requests(16)
	for name, cfg := range map[string]echo.Config{
		"stream": {Protocol: plain(), Work: 1},
		"mirror": {Protocol: tcp.Protocol(), Work: 1},
		"batch":  {Protocol: tcp.Protocol(), Work: 1, Batch: 16},
	} {
		for split, at := range map[string]int{"whole": 0, "cut": 100} {
			t.Run(name+" "+split, func(t *testing.T) {
				x := open(t, echo.NewServer(cfg))
				in := make([]byte, len(stream))
				room := make([]byte, 0, len(stream))
				trip := func() {
					copy(in, stream)
					for _, part := range [][]byte{in[:at], in[at:]} {
						if _, err := x.Data(part, room); err != nil {
							t.Fatal(err)
						}
					}
				}
				trip()
				trip() // the inbox has two buffers
				if n := testing.AllocsPerRun(100, trip); n != 0 {
					t.Errorf("%g allocations for 16 messages, want 0", n)
				}
			})
		}
	}
}

func ExampleServer() {
	s := echo.NewServer(echo.Config{Protocol: tcp.Protocol()})
	session := s.Session() // what a runtime does for each connection
	session.Open(nil)
	request := tcp.Protocol().Client().Append(nil, []byte("sixteen bytes or more"), nil)
	answer, err := session.Data(request, nil)
	fmt.Printf("%q %v\n", answer, err)
	session.Close(nil)
	fmt.Printf("%+v\n", s.Counts())
	// Output:
	// "\x00\x00\x00\x15sixteen bytes or more" <nil>
	// {Opened:1 Live:0 Messages:1 Reads:1}
}
