package conformance

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

var datagramWholeCases = []Case{
	{Name: "DatagramSizes", Rule: "carries datagrams of 1 to 65,507 bytes whole, whatever its read buffer is", Run: carriesEverySize},
	{Name: "DatagramFlood", Rule: "keeps the content of 10,000 datagrams of all lengths that follow each other at once", Run: keepsFlood},
	{Name: "DatagramEmpty", Rule: "makes nothing of an empty datagram", Run: dropsEmpty},
	{Name: "DatagramIPv6", Rule: "listens for and sends datagrams over IPv6 where the machine has it", Run: carriesOverIPv6},
	{Name: "DatagramGranted", Rule: "tells the buffers that its datagram sockets were granted, where it tells them at all", Run: tellsGranted},
}

// datagramSizes lie around the limits that kernels and headers set.
var datagramSizes = []int{1, 2, 15, 16, 17, 1471, 1472, 1473, 9216, 9217, 32767, 32768, 65506, maxDatagram}

// carriesEverySize: a datagram longer than the buffer it is read into is cut off
// by the kernel, and nothing in its bytes says so.
func carriesEverySize(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	c.ReadBuffer = 16
	g := e.listen(c, func() script { return echo })
	p, err := e.datagramPeer(g.Addrs()[0])
	if err != nil {
		e.Fatalf("%v", err)
	}
	p.(*net.UDPConn).SetWriteBuffer(2 * maxDatagram) // some systems send no more than the buffer
	for _, n := range datagramSizes {
		b := text(uint64(n), n)
		if _, err := p.Write(b); err != nil {
			e.Fatalf("send a datagram of %d bytes: %v", n, err)
		}
		if err := expectDatagram(p, b); err != nil {
			e.Errorf("the echo of %d bytes: %v", n, err)
		}
	}

	var back atomic.Int64
	next := 1
	e.dial(c, g.Addrs(), script{
		open: func(out []byte) ([]byte, error) { return append(out, text(0, datagramSizes[0])...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if err := same(in, text(uint64(next-1), datagramSizes[next-1])); err != nil {
				return out, fmt.Errorf("the echo at a dialled end: %w", err)
			}
			back.Add(1)
			if next == len(datagramSizes) {
				return out, nil
			}
			next++
			return append(out, text(uint64(next-1), datagramSizes[next-1])...), nil
		},
		close: func(err error) {
			if back.Load() < int64(len(datagramSizes)) {
				e.Errorf("a dialled end was closed after %d of %d sizes: %v", back.Load(), len(datagramSizes), err)
			}
		},
	})
	e.until(func() bool { return back.Load() == int64(len(datagramSizes)) || e.failed() }, "all sizes are back at a dialled end")
}

// keepsFlood: with several datagrams in one hand, the next one must not be
// written over an answer that has not gone yet, and no answer may go to the
// sender of another datagram.
func keepsFlood(e *Env) {
	const peers, each, window, longest = 4, 2500, 16, 2000
	c, ok := e.datagrams()
	if !ok {
		return
	}
	// Every other answer lies in the input, the rest in the output buffer.
	g := e.listen(c, func() script {
		calls := 0
		return script{data: func(in, out []byte) ([]byte, error) {
			if calls++; calls%2 == 0 && len(out) == 0 {
				return in, nil
			}
			return append(out, in...), nil
		}}
	})
	e.each(peers, func(i int) error {
		addrs := g.Addrs()
		p, err := e.datagramPeer(addrs[i%len(addrs)])
		if err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(uint64(i), 20))
		var flight [][]byte
		for sent := 0; sent < each || len(flight) > 0; {
			for ; len(flight) < window && sent < each; sent++ {
				b := text(uint64(i*each+sent), 1+rng.IntN(longest))
				if _, err := p.Write(b); err != nil {
					return fmt.Errorf("send a datagram of %d bytes: %w", len(b), err)
				}
				flight = append(flight, b)
			}
			if err := expectDatagram(p, flight[0]); err != nil {
				return fmt.Errorf("the echo of datagram %d: %w", sent-len(flight), err)
			}
			flight = flight[1:]
		}
		return nil
	})
}

// dropsEmpty: reading 0 bytes is the end of a stream, and of a datagram socket
// it is nothing.
func dropsEmpty(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script { return echo })
	p, err := e.datagramPeer(g.Addrs()[0])
	if err != nil {
		e.Fatalf("%v", err)
	}
	for i := range uint64(3) {
		p.Write(nil)
		p.Write(text(i, 10))
		if err := expectDatagram(p, text(i, 10)); err != nil {
			e.Errorf("after an empty datagram: %v", err)
		}
	}
	if g.Live() == 0 {
		e.Errorf("an empty datagram closed the session")
	}
}

func carriesOverIPv6(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	if p, err := net.ListenPacket("udp", "[::1]:0"); err != nil {
		e.Logf("no IPv6 here: %v", err)
		return
	} else {
		p.Close()
	}
	c.Address = "[::1]:0"
	var back atomic.Int64
	b := text(6, 20_000)
	g := e.listen(c, func() script { return echo })
	e.dial(c, g.Addrs(), script{
		open: func(out []byte) ([]byte, error) { return append(out, b...), nil },
		data: func(in, out []byte) ([]byte, error) {
			if bytes.Equal(in, b) {
				back.Add(1)
			}
			return out, nil
		},
	})
	e.until(func() bool { return back.Load() == 1 }, "a datagram is back over IPv6")
}

// tellsGranted: kernels round what they grant, and Linux doubles it.
func tellsGranted(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	c.SendBuffer, c.ReceiveBuffer = 70<<10, 90<<10
	server := e.listen(c, func() script { return echo })
	client := e.dial(c, server.Addrs(), script{})
	for end, g := range map[string]*group{"listening": server, "dialled": client} {
		b, ok := g.Group.(transport.Buffered)
		if !ok {
			continue
		}
		send, receive := b.Buffers()
		if send < c.SendBuffer || send > 2*c.SendBuffer || receive < c.ReceiveBuffer || receive > 2*c.ReceiveBuffer {
			e.Errorf("the %s end tells of buffers of %d and %d bytes where %d and %d were asked for",
				end, send, receive, c.SendBuffer, c.ReceiveBuffer)
		}
	}
}
