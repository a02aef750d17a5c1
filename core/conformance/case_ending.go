package conformance

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

var endingCases = []Case{
	{Name: "HalfClose", Rule: "hands over every byte before End, and still sends the answer", Run: halfCloses},
	{Name: "EndBehindOutput", Rule: "sends what was pending before what End returns", Run: endsBehindOutput},
	{Name: "HangUp", Rule: "reads what has arrived although the peer is gone already", Run: hangsUp},
	{Name: "Reset", Rule: "closes once, with an error, when the peer resets", Run: resets},
	{Name: "ResetPending", Rule: "closes once, with an error, when the peer resets while output is pending", Run: resetsPending},
	{Name: "SendsBeforeError", Rule: "sends the whole output of the call that returned an error, then the end of the stream", Run: sendsBeforeError},
	{Name: "Linger", Rule: "drops what comes after an error, and closes within about a second", Run: lingers, Waits: true},
	{Name: "Done", Rule: "reports Close(nil) after ErrDone, from whichever call", Run: isDone},
	{Name: "DoneBehindOutput", Rule: "sends everything that is pending at a dialled end that is done", Run: endsBehindBlockedWrite},
}

func halfCloses(e *Env) {
	for _, n := range []int{27_260, 1 << 20} {
		var seen []byte
		g := e.serve(script{
			data: func(in, out []byte) ([]byte, error) {
				seen = append(seen, in...)
				return out, nil
			},
			end: func(out []byte) ([]byte, error) { return append(out, seen...), nil },
		})
		b := text(uint64(n), n)
		c := e.peer(g.Addrs()[0])
		if _, err := c.Write(b); err != nil {
			e.Fatalf("a peer could not write: %v", err)
		}
		c.CloseWrite()
		if err := expectEnd(c, b); err != nil {
			e.Errorf("the answer to %d bytes and a half-close: %v", n, err)
		}
	}
	e.allClosed(2)
	e.wantCauses(2, true)
}

func endsBehindOutput(e *Env) {
	last := []byte("and that was all")
	g := e.serve(script{
		data: echo.data,
		end:  func(out []byte) ([]byte, error) { return append(out, last...), nil },
	})
	b := text(3, 1<<20)
	c := e.peer(g.Addrs()[0])
	e.beside(func() error {
		if _, err := c.Write(b); err != nil {
			return fmt.Errorf("a peer could not write: %w", err)
		}
		return c.CloseWrite()
	})
	if err := expectEnd(c, append(b[:len(b):len(b)], last...)); err != nil {
		e.Errorf("%v", err)
	}
	e.allClosed(1)
	e.wantCauses(1, true)
}

func hangsUp(e *Env) {
	const peers, each = 100, 11
	var bytes atomic.Int64
	g := e.serve(script{data: func(in, out []byte) ([]byte, error) {
		bytes.Add(int64(len(in)))
		return out, nil
	}})
	for i := range peers {
		c := e.peer(g.Addrs()[0])
		if _, err := c.Write(text(uint64(i), each)); err != nil {
			e.Fatalf("a peer could not write: %v", err)
		}
		c.Close()
	}
	e.allClosed(peers)
	if got := bytes.Load(); got != peers*each {
		e.Errorf("%d of %d bytes were handed over before Close", got, peers*each)
	}
	if got := e.ledger.ended.Load(); got != peers {
		e.Errorf("%d of %d sessions got their End", got, peers)
	}
	e.wantCauses(peers, true)
}

// reset closes c so that the kernel sends a reset.
func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

func resets(e *Env) {
	g := e.serve(echo)
	c := e.peer(g.Addrs()[0])
	if err := exchange(c, text(1, 100)); err != nil {
		e.Fatalf("%v", err)
	}
	reset(c)
	e.allClosed(1)
	e.wantCauses(1, false)
	e.until(func() bool { return g.Live() == 0 }, "Live is 0")
}

func resetsPending(e *Env) {
	g := e.serve(script{
		open: func(out []byte) ([]byte, error) { return append(out, text(1, 16<<20)...), nil },
	})
	c := e.peer(g.Addrs()[0])
	if err := expect(c, text(1, 16<<20)[:1000]); err != nil {
		e.Fatalf("%v", err)
	}
	reset(c)
	e.allClosed(1)
	e.wantCauses(1, false)
}

var errRefused = errors.New("the session refuses")

// sendsBeforeError: the peer goes on sending while it reads, so a runtime that
// closes too early turns the end of the answer, which still waits to be sent,
// into a reset.
func sendsBeforeError(e *Env) {
	answer := text(5, 4<<20)
	g := e.serve(script{data: func(_, out []byte) ([]byte, error) { return append(out, answer...), errRefused }})
	c := e.peer(g.Addrs()[0])
	if err := expectEnd(nagger{c}, answer); err != nil {
		e.Errorf("%v", err)
	}
	c.Close()
	e.allClosed(1)
	e.wantCauses(1, false)
}

// nagger sends a byte before each read.
type nagger struct{ c net.Conn }

func (n nagger) Read(b []byte) (int, error) {
	if _, err := n.c.Write([]byte{'?'}); err != nil {
		return 0, err
	}
	return n.c.Read(b[:min(len(b), 32<<10)])
}

func lingers(e *Env) {
	g := e.serve(script{data: func(_, out []byte) ([]byte, error) { return out, errRefused }})
	const peers, patience = 4, 3 * time.Second // the rule says one second; the rest is for a busy machine
	e.each(peers, func(i int) error {
		c, err := e.peerTo(g.Addrs()[0])
		if err != nil {
			return err
		}
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		if err := expectEnd(c, nil); err != nil {
			return err
		}
		if i == 0 {
			return nil // this one goes silent and stays
		}
		for err == nil {
			_, err = c.Write(text(1, 1000))
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("a peer could still write %v after the session had refused", patience)
		}
		return nil
	})
	e.allClosed(peers)
	e.until(func() bool { return g.Live() == 0 }, "Live is 0")
	e.wantCauses(peers, false)
}

// isDone: the last words arrive, the end follows, Close is given nil.
func isDone(e *Env) {
	bye := text(9, 100_000)
	done := func(out []byte) ([]byte, error) { return append(out, bye...), transport.ErrDone }
	for i, s := range []script{
		{open: done},
		{data: func(_, out []byte) ([]byte, error) { return done(out) }},
		{end: done},
		{wake: func(out []byte) ([]byte, int64, error) {
			out, err := done(out)
			return out, 0, err
		}},
	} {
		g := e.serve(s)
		c := e.peer(g.Addrs()[0])
		if s.data != nil {
			c.Write([]byte("x"))
		}
		if s.end != nil {
			c.CloseWrite()
		}
		if err := expectEnd(c, bye); err != nil {
			e.Errorf("the last words: %v", err)
		}
		c.Close()
		e.allClosed(int64(i + 1))
	}
	e.wantCauses(4, true)
}

// endsBehindBlockedWrite: the peer reads nothing until the session is long
// done, so most of the output has yet to be sent then.
func endsBehindBlockedWrite(e *Env) {
	b := text(10, 4<<20)
	done := make(chan struct{})
	addr := e.accept(1, func(_ int, c *net.TCPConn) error {
		select {
		case <-done:
			return expectEnd(c, b)
		case <-e.ctx.Done():
			return nil // the case has said why
		}
	})
	c := e.config()
	c.SendBuffer = 64 << 10
	e.dial(c, []string{addr}, script{open: func(out []byte) ([]byte, error) { return append(out, b...), transport.ErrDone }})
	e.pass(50)
	close(done)
	e.allClosed(1)
	e.wantCauses(1, true)
}
