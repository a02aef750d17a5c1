package conformance

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

var streamCases = []Case{
	{Name: "Echo", Rule: "carries every byte both ways, in order, whatever the size", Run: echoes},
	{Name: "EchoInPlace", Rule: "sends an answer from the buffer it arrived in before it reads into it again", Run: echoesInPlace},
	{Name: "EchoAlternating", Rule: "keeps its input whole while answers in place alternate with appended ones", Run: echoesAlternating},
	{Name: "EchoDialled", Rule: "carries every byte between its own two ends", Run: echoesDialled},
	{Name: "OpenSpeaks", Rule: "calls Open before anything has arrived and sends what it returns", Run: openSpeaks},
	{Name: "EchoIPv6", Rule: "listens and dials over IPv6 where the machine has it", Run: echoesIPv6},
	{Name: "Churn", Rule: "keeps connections apart while others come and go", Run: churns},
}

// sizes stand around the buffers that runtimes read into and kernels hand out.
var sizes = []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1 << 20, 4 << 20}

// echo answers with what it was given, by copy.
var echo = script{data: func(in, out []byte) ([]byte, error) { return append(out, in...), nil }}

func echoes(e *Env) {
	g := e.serve(echo)
	c := e.peer(g.Addrs()[0])
	for i, n := range sizes {
		b := text(uint64(i), n)
		sent := e.send(c, b)
		if err := expect(c, b); err != nil {
			e.Fatalf("echo of %d bytes: %v", n, err)
		}
		sent()
	}
}

func echoesInPlace(e *Env) {
	flip := func(b []byte) []byte {
		for i := range b {
			b[i] ^= 0xff
		}
		return b
	}
	g := e.serve(script{data: func(in, out []byte) ([]byte, error) {
		if len(out) == 0 {
			return flip(in), nil
		}
		return append(out, flip(in)...), nil
	}})
	e.each(4, func(i int) error {
		c, err := e.peerTo(g.Addrs()[0])
		if err != nil {
			return err
		}
		b := text(uint64(i), 4<<20)
		e.send(c, b) // unread output piles up, so that a part stays pending
		return expect(c, flip(append([]byte(nil), b...)))
	})
}

// echoesAlternating: if the buffer that an answer in place lies in became the
// next call's out, that answer would be written over its own input.
func echoesAlternating(e *Env) {
	calls := 0
	prefix := []byte("answer ")
	g := e.serve(script{data: func(in, out []byte) ([]byte, error) {
		if calls++; calls%2 == 1 && len(out) == 0 {
			return in, nil
		}
		return append(append(out, prefix...), in...), nil
	}})
	c := e.peer(g.Addrs()[0])
	for i := range uint64(6) {
		b := text(i, 50)
		if _, err := c.Write(b); err != nil {
			e.Fatalf("a peer could not write: %v", err)
		}
		if i%2 == 1 {
			b = append(prefix[:len(prefix):len(prefix)], b...)
		}
		if err := expect(c, b); err != nil {
			e.Fatalf("answer %d: %v", i, err)
		}
	}
}

// asker is the script of a dialled end that sends b and counts in got, byte by
// byte, how much of it came back right. It is done when all has.
func asker(b []byte, got *atomic.Int64) script {
	at := 0
	return script{
		open: func(out []byte) ([]byte, error) { return append(out, b...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if len(in) > len(b)-at {
				return out, fmt.Errorf("%d bytes came back, %d had been sent", at+len(in), len(b))
			}
			if err := same(in, b[at:at+len(in)]); err != nil {
				return out, fmt.Errorf("after %d bytes: %w", at, err)
			}
			at += len(in)
			got.Store(int64(at))
			if at == len(b) {
				return out, transport.ErrDone
			}
			return out, nil
		},
	}
}

func echoesDialled(e *Env) {
	g := e.serve(echo)
	got := make([]atomic.Int64, len(sizes))
	scripts := make([]script, len(sizes))
	for i, n := range sizes {
		scripts[i] = asker(text(uint64(i), n), &got[i])
	}
	d := e.dial(e.config(), g.Addrs(), scripts...)
	e.allClosed(int64(2 * len(sizes)))
	for i, n := range sizes {
		if got := got[i].Load(); got != int64(n) {
			e.Errorf("%d of %d bytes came back", got, n)
		}
	}
	e.wantCauses(2*len(sizes), true)
	if live := d.Live(); live != 0 {
		e.Errorf("Live is %d when every dialled session is done", live)
	}
}

func openSpeaks(e *Env) {
	hello := text(1, 100_000)
	g := e.serve(script{
		open: func(out []byte) ([]byte, error) { return append(out, hello...), nil },
		data: echo.data,
	})
	c := e.peer(g.Addrs()[0])
	if err := expect(c, hello); err != nil {
		e.Fatalf("what Open returned: %v", err)
	}
	if err := exchange(c, text(2, 1000)); err != nil {
		e.Fatalf("after Open: %v", err)
	}
}

func echoesIPv6(e *Env) {
	if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
		e.Logf("no IPv6 here: %v", err)
		return
	} else {
		ln.Close()
	}
	c := e.config()
	c.Address = "[::1]:0"
	g := e.listen(c, func() script { return echo })
	var got atomic.Int64
	e.dial(c, g.Addrs(), asker(text(6, 100_000), &got))
	e.allClosed(2)
	if got.Load() != 100_000 {
		e.Errorf("%d of 100000 bytes came back", got.Load())
	}
}

// churns: a descriptor's number is used again at once, so a runtime that mixes
// up an old and a new connection sends bytes to the wrong one.
func churns(e *Env) {
	g := e.serve(echo)
	const lives = 8
	e.each(lives, func(i int) error {
		for k := range 25 {
			c, err := e.peerTo(g.Addrs()[0])
			if err != nil {
				return err
			}
			b := text(uint64(i*1000+k), 30_000)
			sent := e.send(c, b)
			if err := expect(c, b[:10_000]); err != nil {
				return err
			}
			if k%2 == 0 { // every other one goes with echoes unread
				if err := expect(c, b[10_000:]); err != nil {
					return err
				}
			}
			sent()
			c.Close()
		}
		return nil
	})
	e.allClosed(lives * 25)
}
