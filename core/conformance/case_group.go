package conformance

import (
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

var groupCases = []Case{
	{Name: "Counts", Rule: "makes one session for each of 1,000 connections and counts those that live", Run: counts},
	{Name: "DialOrder", Rule: "connects session i to address i modulo their number, remainders included", Run: dialsInOrder},
	{Name: "DialRefused", Rule: "leaves nothing open when one connection of a Dial is refused", Run: dialRefused},
	{Name: "ListenTaken", Rule: "reports an address that cannot be listened on", Run: listenTaken},
	{Name: "ResetBeforeAccept", Rule: "goes on accepting after 1,000 connections that were reset at once", Run: survivesResets},
	{Name: "CloseInTraffic", Rule: "closes in the middle of traffic, every session once", Run: closesInTraffic},
	{Name: "CloseInLinger", Rule: "closes without waiting for those that linger", Run: closesInLinger},
	{Name: "CloseCause", Rule: "gives Close an error that wraps net.ErrClosed where its group's cut the conversation off", Run: tellsWhoClosed},
	{Name: "CloseListener", Rule: "accepts no more once its group is closed", Run: closesListener},
	{Name: "GroupsApart", Rule: "keeps a group going when another one on the same threads is closed", Run: groupsApart},
	{Name: "OneProcessor", Rule: "needs no more processors than it has threads", Run: sparesProcessors},
}

func counts(e *Env) {
	const conns = 1000
	g := e.serve(echo)
	peers := make([]*net.TCPConn, conns)
	for i := range peers {
		peers[i] = e.peer(g.Addrs()[0])
	}
	e.until(func() bool { return g.Live() == conns && e.ledger.opened.Load() == conns },
		"%d connections live", conns)
	for i, c := range peers {
		if err := exchange(c, text(uint64(i), 64)); err != nil {
			e.Fatalf("connection %d of %d: %v", i, conns, err)
		}
	}
	for _, c := range peers {
		c.CloseWrite()
	}
	e.until(func() bool { return g.Live() == 0 }, "no connection lives")
	if made, opened := e.ledger.made.Load(), e.ledger.opened.Load(); made != conns || opened != conns {
		e.Errorf("%d sessions were made and %d opened for %d connections", made, opened, conns)
	}
	e.allClosed(conns)
	e.wantCauses(conns, true)
}

func dialsInOrder(e *Env) {
	for _, n := range []int{1, 10, 15} {
		var at [2]atomic.Int64
		var addrs []string
		for k := range at {
			g := e.listen(e.config(), func() script {
				at[k].Add(1)
				return echo
			})
			addrs = append(addrs, g.Addrs()...)
		}
		scripts := make([]script, n)
		d := e.dial(e.config(), addrs, scripts...)
		if live, local := d.Live(), len(d.Addrs()); live != n || local != n {
			e.Errorf("after Dial of %d, %d live and %d local addresses are known", n, live, local)
		}
		want := [2]int64{int64(n+1) / 2, int64(n) / 2}
		e.until(func() bool { return at[0].Load() == want[0] && at[1].Load() == want[1] },
			"%d sessions are spread %v over two addresses", n, want)
	}
}

func dialRefused(e *Env) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Fatalf("listen with package net: %v", err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	g := e.serve(echo)
	sessions := e.sessions(make([]script, 4))
	d, err := e.Runtime.Dial(e.config(), []string{g.Addrs()[0], g.Addrs()[0], nobody}, sessions)
	if err == nil {
		e.opened(d)
		e.Fatalf("Dial to a port that nobody listens on returned no error")
	}
	e.until(func() bool { return g.Live() == 0 }, "the connections made before the refusal are closed")
	made := e.ledger.made.Load() // what the listener made, and the four
	e.until(func() bool { return e.ledger.closed.Load() == e.ledger.made.Load() },
		"all %d sessions are closed", made)
	e.until(func() bool { return e.ledger.closed.Load() >= 4 }, "the sessions that Dial was given are closed")
	failed := 0
	for _, err := range e.ledger.Causes() {
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		e.Errorf("no session was told in Close that its connection failed")
	}
}

func listenTaken(e *Env) {
	g := e.serve(echo)
	c := e.config()
	c.Address = g.Addrs()[0]
	second, err := e.Runtime.Listen(c, func() transport.Session { return e.ledger.session(echo) })
	if err == nil {
		e.opened(second)
		e.Errorf("a second Listen on %s returned no error", c.Address)
	}
	if err := exchange(e.peer(g.Addrs()[0]), text(1, 100)); err != nil {
		e.Errorf("the first listener, after the second was refused: %v", err)
	}
}

func survivesResets(e *Env) {
	g := e.serve(echo)
	for range 1000 {
		reset(e.peer(g.Addrs()[0]))
	}
	c := e.peer(g.Addrs()[0])
	if err := exchange(c, text(1, 1000)); err != nil {
		e.Fatalf("after the resets: %v", err)
	}
	e.until(func() bool { return g.Live() == 1 }, "only the last connection lives")
}

// talker sends b again and again, for as long as it is answered.
func talker(b []byte, trips *atomic.Int64) script {
	left := len(b)
	return script{
		open: func(out []byte) ([]byte, error) { return append(out, b...), nil },
		data: func(in, out []byte) ([]byte, error) {
			for left -= len(in); left <= 0; left += len(b) {
				trips.Add(1)
				out = append(out, b...)
			}
			return out, nil
		},
	}
}

func closesInTraffic(e *Env) {
	const conns = 16
	for _, first := range []string{"the listening", "the dialling"} {
		var trips atomic.Int64
		g := e.serve(echo)
		scripts := make([]script, conns)
		for i := range scripts {
			scripts[i] = talker(text(uint64(i), 40_000), &trips)
		}
		d := e.dial(e.config(), g.Addrs(), scripts...)
		e.until(func() bool { return trips.Load() > 5*conns }, "traffic flows")
		before := e.ledger.closed.Load()
		if first == "the dialling" {
			g, d = d, g
		}
		g.Close()
		if got := e.ledger.closed.Load() - before; got < conns {
			e.Errorf("%d of %d sessions had their Close when %s group's Close returned", got, conns, first)
		}
		if live := g.Live(); live != 0 {
			e.Errorf("Live is %d when %s group is closed", live, first)
		}
		e.until(func() bool { return d.Live() == 0 }, "the other ends are closed, after %s group was", first)
		d.Close()
	}
	e.allClosed(4 * conns)
}

// closesInLinger: the peers neither read nor go, so output stays pending or
// the end of the peer's side does not come.
func closesInLinger(e *Env) {
	huge := text(1, 16<<20)
	for _, answer := range [][]byte{nil, huge} {
		before := e.ledger.opened.Load()
		var ended atomic.Int64
		g := e.serve(script{data: func(_, out []byte) ([]byte, error) {
			ended.Add(1)
			return append(out, answer...), transport.ErrDone
		}})
		for range 4 {
			e.peer(g.Addrs()[0]).Write([]byte("x"))
		}
		e.until(func() bool { return ended.Load() == 4 }, "the sessions are done")
		g.Close()
		if got := e.ledger.closed.Load() - before; got != 4 {
			e.Errorf("%d of 4 sessions had their Close when the group's returned", got)
		}
	}
}

// tellsWhoClosed: whoever counts broken connections leaves out those that it
// closed itself.
func tellsWhoClosed(e *Env) {
	const conns = 4
	g := e.serve(echo)
	for i := range conns {
		if err := exchange(e.peer(g.Addrs()[0]), text(uint64(i), 100)); err != nil {
			e.Fatalf("%v", err)
		}
	}
	g.Close()
	addr := e.accept(conns, func(_ int, c *net.TCPConn) error { return expectEnd(c, nil) })
	e.dial(e.config(), []string{addr}, make([]script, conns)...).Close()
	if c, ok := e.datagrams(); ok {
		e.listen(c, func() script { return echo }).Close()
		e.dial(c, []string{e.vacantPort()}, script{}).Close()
	}
	for _, cause := range e.ledger.Causes() {
		if !errors.Is(cause, net.ErrClosed) {
			e.Errorf("Close was given %v where Group.Close had cut the conversation off", cause)
		}
	}
}

func closesListener(e *Env) {
	g := e.serve(echo)
	g.Close()
	if c, err := net.DialTimeout("tcp", g.Addrs()[0], limit); err == nil {
		c.Close()
		e.Errorf("%s still accepts after its group was closed", g.Addrs()[0])
	}
}

func groupsApart(e *Env) {
	one, two := e.serve(echo), e.serve(echo)
	var trips [2]atomic.Int64
	d1 := e.dial(e.config(), one.Addrs(), talker(text(1, 5000), &trips[0]), talker(text(2, 5000), &trips[0]))
	d2 := e.dial(e.config(), two.Addrs(), talker(text(3, 5000), &trips[1]), talker(text(4, 5000), &trips[1]))
	e.until(func() bool { return trips[0].Load() > 10 && trips[1].Load() > 10 }, "both groups have traffic")
	one.Close()
	d1.Close()
	seen := trips[1].Load()
	e.until(func() bool { return trips[1].Load() > seen+100 }, "the group that stayed open goes on")
	if live := d2.Live(); live != 2 {
		e.Errorf("%d of 2 connections of the other group live", live)
	}
	if err := exchange(e.peer(two.Addrs()[0]), text(5, 1000)); err != nil {
		e.Errorf("a new connection to the group that stayed open: %v", err)
	}
}

// sparesProcessors: a plugin process has as many processors as IO threads, so
// a loop that waits or spins must leave room for whoever controls it.
func sparesProcessors(e *Env) {
	old := runtime.GOMAXPROCS(e.Variant.Threads)
	e.atEnd(func() { runtime.GOMAXPROCS(old) })
	c := e.busyConfig()
	g := e.listen(c, func() script { return echo })
	var trips atomic.Int64
	scripts := make([]script, 2*e.Variant.Threads)
	for i := range scripts {
		scripts[i] = talker(text(uint64(i), 1000), &trips)
		scripts[i].wake = func(out []byte) ([]byte, int64, error) {
			return out, e.clock() + int64(time.Millisecond), nil
		}
	}
	d := e.dial(c, g.Addrs(), scripts...)
	e.until(func() bool { return trips.Load() > 100 }, "traffic flows on as many processors as threads")
	if err := exchange(e.peer(g.Addrs()[0]), text(1, 100)); err != nil {
		e.Errorf("a peer beside it: %v", err)
	}
	d.Close()
	g.Close()
}
