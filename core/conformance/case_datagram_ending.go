package conformance

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

var datagramEndingCases = []Case{
	{Name: "DatagramDone", Rule: "sends the output of the call that ended a datagram session, then closes it once", Run: endsDatagrams},
	{Name: "DatagramUnasked", Rule: "ends a listening datagram session with an error when it sends to nobody", Run: refusesUnasked},
	{Name: "DatagramRefused", Rule: "takes a refused datagram for a lost one, and closes with an error when a second later more are", Run: outlivesRefusal, Waits: true},
	{Name: "DatagramClose", Rule: "closes in the middle of datagrams, every session once", Run: closesInDatagrams},
}

func endsDatagrams(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	for _, last := range []error{transport.ErrDone, errRefused} {
		g := e.listen(c, func() script {
			return script{data: func(_, out []byte) ([]byte, error) { return append(out, "farewell"...), last }}
		})
		addrs := g.Addrs()
		for _, addr := range addrs {
			p, err := e.datagramPeer(addr)
			if err != nil {
				e.Fatalf("%v", err)
			}
			p.Write([]byte("the last word?"))
			if err := expectDatagram(p, []byte("farewell")); err != nil {
				e.Errorf("the output beside %q: %v", last, err)
			}
		}
		e.until(func() bool { return g.Live() == 0 }, "no session lives, %d do", g.Live())
		for _, cause := range e.ledger.Causes() {
			if last == transport.ErrDone && cause != nil {
				e.Errorf("Close was given %q where the session had ended well", cause)
			}
		}
	}
}

func refusesUnasked(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	g := e.listen(c, func() script {
		return script{open: func(out []byte) ([]byte, error) { return append(out, "anyone?"...), nil }}
	})
	e.allClosed(int64(len(g.Addrs())))
	e.wantCauses(len(g.Addrs()), false)
}

// outlivesRefusal sends to two ports where nobody listens, and has somebody
// listen at one of them soon.
func outlivesRefusal(e *Env) {
	const period = int64(10 * time.Millisecond)
	c, ok := e.datagrams()
	if !ok {
		return
	}
	var sent, answered, refused atomic.Int64
	ask := script{
		wake: func(out []byte) ([]byte, int64, error) {
			sent.Add(1)
			return append(out, "anyone?"...), e.clock() + period, nil
		},
		data: func(in, out []byte) ([]byte, error) {
			if bytes.Equal(in, []byte("anyone?")) {
				answered.Add(1)
			}
			return out, nil
		},
	}
	alone := ask
	alone.data = nil
	alone.close = func(err error) {
		if err == nil {
			e.Errorf("Close was given nil where nobody listened")
		}
		refused.Add(1)
	}
	ask.close = func(err error) {
		if answered.Load() == 0 {
			e.Errorf("Close was given %v although somebody listens soon", err)
		}
	}
	soon, never := e.vacantPort(), e.vacantPort()
	e.dial(c, []string{soon}, ask)
	e.until(func() bool { return sent.Load() >= 3 || e.failed() }, "three datagrams were sent to nobody")
	p, err := net.ListenPacket("udp", soon)
	if err != nil {
		e.Fatalf("listen where nobody did: %v", err)
	}
	e.atEnd(func() { p.Close() })
	e.beside(func() error {
		b := make([]byte, 100)
		for {
			n, from, err := p.ReadFrom(b)
			if err != nil {
				return err
			}
			p.WriteTo(b[:n], from)
		}
	})
	e.until(func() bool { return answered.Load() >= 2 || e.failed() }, "a session that was refused at first has answers")
	e.dial(c, []string{never}, alone)
	e.until(func() bool { return refused.Load() == 1 }, "a session that nobody answers is closed")
}

// vacantPort is an address at which nobody listens.
func (e *Env) vacantPort() string {
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		e.Fatalf("find a free port: %v", err)
	}
	defer p.Close()
	return p.LocalAddr().String()
}

// closesInDatagrams closes first the listening end, whose peers go on sending,
// then the dialled one. The end of every case counts what is left.
func closesInDatagrams(e *Env) {
	c, ok := e.datagrams()
	if !ok {
		return
	}
	var back atomic.Int64
	g := e.listen(c, func() script { return echo })
	ball := func(out []byte) ([]byte, error) { return append(out, text(1, 1000)...), nil }
	s := script{
		open: ball,
		data: func(_, out []byte) ([]byte, error) { back.Add(1); return ball(out) },
		wake: func(out []byte) ([]byte, int64, error) {
			out, _ = ball(out)
			return out, e.clock() + int64(time.Millisecond), nil
		},
	}
	d := e.dial(c, g.Addrs(), s, s, s, s)
	e.until(func() bool { return back.Load() > 1000 }, "a thousand datagrams have come back")
	g.Close()
	if got := g.Live(); got != 0 {
		e.Errorf("%d sessions live after Close", got)
	}
	d.Close()
	if got := d.Live(); got != 0 {
		e.Errorf("%d dialled sessions live after Close", got)
	}
}
