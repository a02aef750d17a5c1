package conformance

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

var datagramCases = []Case{
	{Name: "DatagramEcho", Rule: "answers each datagram whole, to the address it came from", Run: echoesDatagrams},
	{Name: "DatagramApart", Rule: "keeps datagrams apart that arrive back to back", Run: keepsDatagramsApart},
	{Name: "DatagramCut", Rule: "cuts the output of one call into datagrams of DatagramBytes", Run: cutsDatagrams},
	{Name: "DatagramSockets", Rule: "makes one session for each socket and names each socket's address", Run: sharesDatagramSockets},
	{Name: "DatagramDialled", Rule: "carries datagrams between its own two ends, sent from Open, Data and Wake", Run: echoesDialledDatagrams},
}

// datagrams is the variant's configuration for udp; false: the runtime has none.
func (e *Env) datagrams() (transport.Config, bool) {
	c := e.config()
	c.Network = "udp"
	c.SendBuffer, c.ReceiveBuffer = 1<<20, 1<<20
	return c, !lacks(e.Runtime.Info(), "protocol", "udp")
}

func (e *Env) datagramPeer(addr string) (net.Conn, error) {
	d := net.Dialer{Deadline: e.deadline}
	c, err := d.Dial("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("open a udp peer: %w", err)
	}
	c.SetDeadline(e.deadline)
	e.atEnd(func() { c.Close() })
	return c, nil
}

// expectDatagram reads one datagram and wants it to be want and no more.
func expectDatagram(c net.Conn, want []byte) error {
	got := make([]byte, 1<<16)
	n, err := c.Read(got)
	if err != nil {
		return fmt.Errorf("a peer got no answer to a datagram: %w", err)
	}
	if !bytes.Equal(got[:n], want) {
		return fmt.Errorf("a peer got a datagram of %d bytes that is not the one of %d bytes it waited for", n, len(want))
	}
	return nil
}

func echoesDatagrams(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script { return echo })
	e.each(8, func(i int) error {
		addrs := g.Addrs()
		p, err := e.datagramPeer(addrs[i%len(addrs)])
		if err != nil {
			return err
		}
		for k, n := range []int{1, 15, 1400, 9000} {
			b := text(uint64(i*10+k), n)
			if _, err := p.Write(b); err != nil {
				return fmt.Errorf("send a datagram of %d bytes: %w", n, err)
			}
			if err := expectDatagram(p, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepsDatagramsApart: a buffer that the next datagram overwrites before the
// answer has gone makes a short answer out of a long one.
func keepsDatagramsApart(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script { return echo })
	p, err := e.datagramPeer(g.Addrs()[0])
	if err != nil {
		e.Fatalf("%v", err)
	}
	for i := range uint64(1000) {
		long, short := text(2*i, 15), text(2*i+1, 5)
		p.Write(long)
		p.Write(short)
		if err := expectDatagram(p, long); err != nil {
			e.Fatalf("pair %d, the long one: %v", i, err)
		}
		if err := expectDatagram(p, short); err != nil {
			e.Fatalf("pair %d, the short one: %v", i, err)
		}
	}
}

func cutsDatagrams(e *Env) {
	const each, n = 100, 10
	c, ok := e.datagrams()
	if !ok {
		return
	}
	c.DatagramBytes = each
	answer := text(1, each*n)
	var got, whole atomic.Int64
	count := func(in, out []byte) ([]byte, error) {
		got.Add(1)
		if len(in) == each {
			whole.Add(1)
		}
		return out, nil
	}
	g := e.listen(c, func() script {
		return script{data: func(in, out []byte) ([]byte, error) {
			if string(in) == "answer" {
				return append(out, answer...), nil
			}
			return count(in, out)
		}}
	})
	p, err := e.datagramPeer(g.Addrs()[0])
	if err != nil {
		e.Fatalf("%v", err)
	}
	p.Write([]byte("answer"))
	for i := range n {
		if err := expectDatagram(p, answer[i*each:(i+1)*each]); err != nil {
			e.Fatalf("datagram %d of an answer: %v", i, err)
		}
	}
	e.dial(c, g.Addrs(), script{open: func(out []byte) ([]byte, error) { return append(out, answer...), nil }})
	e.until(func() bool { return got.Load() == n }, "%d datagrams of a dialled end arrive", n)
	if whole.Load() != n {
		e.Errorf("%d of %d datagrams have %d bytes", whole.Load(), n, each)
	}
}

func sharesDatagramSockets(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script { return echo })
	addrs := g.Addrs()
	want := 1
	if e.Variant.IOModel == "sharded" {
		want = e.Variant.Threads
	}
	if len(addrs) != want {
		e.Fatalf("%d addresses are listened on, want %d", len(addrs), want)
	}
	e.until(func() bool { return e.ledger.opened.Load() == int64(want) && g.Live() == want },
		"%d sessions are open, one for each socket", want)
	for i, addr := range addrs {
		p, err := e.datagramPeer(addr)
		if err != nil {
			e.Fatalf("%v", err)
		}
		p.Write(text(uint64(i), 100))
		if err := expectDatagram(p, text(uint64(i), 100)); err != nil {
			e.Errorf("at address %d: %v", i, err)
		}
	}
}

func echoesDialledDatagrams(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script { return echo })
	const conns = 5
	var mu sync.Mutex
	seen := map[string]int{}
	scripts := make([]script, conns)
	for i := range scripts {
		name := fmt.Sprint(i)
		scripts[i] = script{
			open: func(out []byte) ([]byte, error) { return append(out, "open"+name...), nil },
			wake: func(out []byte) ([]byte, int64, error) { return append(out, "wake"+name...), 0, nil },
			data: func(in, out []byte) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				seen[string(in)]++
				if string(in) == "open"+name {
					return append(out, "data"+name...), nil
				}
				return out, nil
			},
		}
	}
	e.dial(c, g.Addrs(), scripts...)
	e.until(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == 3*conns
	}, "each of %d dialled ends has its three echoes", conns)
}
