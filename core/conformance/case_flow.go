package conformance

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

var flowCases = []Case{
	{Name: "PausesReads", Rule: "reads nothing more while output is pending, unless Info.ReadsOn says why", Run: pausesReads},
	{Name: "Bounded", Rule: "takes no more from a peer that does not read than buffers can hold", Run: isBounded, Waits: true},
	{Name: "DialReadsOn", Rule: "reads on at a dialled end while its output is pending", Run: dialReadsOn},
	{Name: "WindowCompletes", Rule: "completes a window of 16 messages of 1 MiB over buffers of 16 KiB", Run: windowCompletes},
	{Name: "Fair", Rule: "serves a small exchange on the same thread as a connection that never pauses", Run: isFair},
	{Name: "LargeInput", Rule: "reads a large message to its end although others had their turns", Run: readsLargeInput},
}

// pausesReads: the first byte is answered with more than the kernel takes, so
// output is pending for as long as the peer does not read.
func pausesReads(e *Env) {
	if e.Runtime.Info().ReadsOn != "" {
		return // the window bounds it instead: WindowCompletes
	}
	answer := text(1, 16<<20)
	var calls atomic.Int64
	g := e.serve(script{data: func(in, out []byte) ([]byte, error) {
		if calls.Add(1) == 1 {
			return append(out, answer...), nil
		}
		return append(out, in...), nil
	}})
	c := e.peer(g.Addrs()[0])
	c.Write([]byte("1"))
	if err := expect(c, answer[:1]); err != nil { // it is being sent
		e.Fatalf("%v", err)
	}
	c.Write([]byte("2"))
	e.pass(200)
	if got := calls.Load(); got != 1 {
		e.Errorf("Data was called again while most of %d bytes were pending", len(answer))
	}
	if err := expect(c, append(answer[1:], '2')); err != nil {
		e.Errorf("once the peer reads: %v", err)
	}
}

// isBounded writes until nothing moves any more. What the session was given
// then sits in socket buffers, but for one read.
func isBounded(e *Env) {
	const most, tooMuch, buffer = 32 << 20, 16 << 20, 64 << 10
	var taken atomic.Int64
	cfg := e.config()
	cfg.SendBuffer, cfg.ReceiveBuffer, cfg.ReadBuffer = buffer, buffer, buffer
	g := e.listen(cfg, func() script {
		return script{data: func(in, out []byte) ([]byte, error) {
			taken.Add(int64(len(in)))
			return append(out, in...), nil
		}}
	})
	c := e.peer(g.Addrs()[0])
	c.SetReadBuffer(buffer)
	b := text(2, most)
	sent := e.send(c, b)
	e.until(func() bool { return taken.Load() > 0 }, "the first bytes are handed over")
	stuck := e.still(300*time.Millisecond, func() int64 { return min(taken.Load(), tooMuch) })
	if e.Runtime.Info().ReadsOn == "" && stuck == tooMuch {
		e.Errorf("%d MiB were taken from a peer that reads nothing, over buffers of %d KiB", tooMuch>>20, buffer>>10)
	}
	if err := expect(c, b); err != nil {
		e.Errorf("once the peer reads: %v", err)
	}
	sent()
}

// dialReadsOn: the peer sends all before it reads anything, so a dialled end
// that waits for its own output waits for ever.
func dialReadsOn(e *Env) {
	const n = 16 << 20
	theirs, ours := text(1, n), text(2, n)
	var got []byte
	addr := e.accept(1, func(_ int, c *net.TCPConn) error {
		if _, err := c.Write(theirs); err != nil {
			return fmt.Errorf("a peer could not write while the dialled end's output was pending: %w", err)
		}
		return expect(c, ours)
	})
	e.dial(e.config(), []string{addr}, script{
		open: func(out []byte) ([]byte, error) { return append(out, ours...), nil },
		data: func(in, out []byte) ([]byte, error) {
			got = append(got, in...)
			return out, nil
		},
	})
	e.allClosed(1)
	if err := same(got, theirs); err != nil {
		e.Errorf("the dialled end: %v", err)
	}
}

func windowCompletes(e *Env) {
	const window, message = 16, 1 << 20
	cfg := e.config()
	cfg.SendBuffer, cfg.ReceiveBuffer = 16<<10, 16<<10
	g := e.listen(cfg, func() script { return echo })
	var got atomic.Int64
	e.dial(cfg, g.Addrs(), asker(text(4, window*message), &got))
	e.allClosed(2)
	if got.Load() != window*message {
		e.Errorf("%d of %d bytes came back", got.Load(), window*message)
	}
}

// isFair counts what the greedy connections get between two small exchanges.
// Bytes, unlike time, do not depend on the machine.
func isFair(e *Env) {
	const rounds, most = 50, 16 << 20
	var eaten atomic.Int64
	sink := e.serve(script{data: func(in, out []byte) ([]byte, error) {
		eaten.Add(int64(len(in)))
		return out, nil
	}})
	for range e.Variant.Threads {
		c := e.peer(sink.Addrs()[0])
		e.beside(func() error {
			for b := make([]byte, 256<<10); ; {
				if _, err := c.Write(b); err != nil {
					return err // the case closes it when it has seen enough
				}
			}
		})
	}
	small := e.peer(e.serve(echo).Addrs()[0])
	e.until(func() bool { return eaten.Load() > 1<<20 }, "the greedy connections run")
	between := make([]int64, rounds)
	for i := range between {
		before := eaten.Load()
		if err := exchange(small, text(uint64(i), 64)); err != nil {
			e.Fatalf("the small exchange: %v", err)
		}
		between[i] = eaten.Load() - before
	}
	if slices.Sort(between); between[rounds/2] > most {
		e.Errorf("%d MiB went to the greedy connections between two small exchanges", between[rounds/2]>>20)
	}
}

// readsLargeInput: a quota that stops reading with bytes left must come back
// for them without a new event.
func readsLargeInput(e *Env) {
	const n = 1<<20 + 1
	cfg := e.config()
	cfg.ReadBuffer = 64 << 10
	g := e.listen(cfg, func() script {
		left := n
		return script{data: func(in, out []byte) ([]byte, error) {
			if left -= len(in); left == 0 {
				return append(out, "all"...), transport.ErrDone
			}
			return out, nil
		}}
	})
	e.each(8, func(i int) error {
		c, err := e.peerTo(g.Addrs()[0])
		if err != nil {
			return err
		}
		if _, err := c.Write(text(uint64(i), n)); err != nil {
			return err
		}
		got, err := io.ReadAll(c)
		if err == nil && string(got) != "all" {
			err = fmt.Errorf("got %q after the last byte", got)
		}
		return err
	})
}
