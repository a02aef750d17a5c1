package load_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
	"github.com/netmatrix/netmatrix/core/transport"
)

// A network that loses, doubles and reorders datagrams costs the load those and
// nothing else: each lost one frees its place, the run ends on time, and every
// datagram is in one count.
func TestLossyNetwork(t *testing.T) {
	const ms = int64(1_000_000)
	for _, c := range []struct {
		window          int
		loss, duplicate float64
	}{{1, 0.01, 0}, {16, 0.01, 0}, {16, 0.05, 0.02}} {
		m := conformance.NewMemory(conformance.Conditions{
			Seed: 7, Latency: 20_000, Jitter: 30_000, Loss: c.loss, Duplicate: c.duplicate,
		})
		p := udp.Protocol()
		cfg := transport.Config{Network: p.Network, DatagramBytes: 64, Clock: m.Clock}
		server := echo.NewServer(echo.Config{Protocol: p})
		g, err := m.Listen(cfg, server.Session)
		if err != nil {
			t.Fatal(err)
		}
		l, err := load.New(load.Config{
			Protocol: p, Payload: 64, Clients: 3, Window: c.window, LossAfter: 5 * ms, Clock: m.Clock, CheckAll: true,
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
		clients, err := m.Dial(cfg, g.Addrs(), l.Sessions(0))
		if err != nil {
			t.Fatal(err)
		}
		run(t, m, l.Verified())
		begin := m.Clock()
		if err := l.Start([]control.Slice{{Length: 500 * ms, Counted: true}}); err != nil {
			t.Fatal(err)
		}
		clients.Wake()
		run(t, m, l.Done())
		if took := m.Clock() - begin; took > 506*ms {
			t.Errorf("%+v: the run took %d ns for a plan of %d", c, took, 500*ms)
		}
		res, err := l.Result()
		if err != nil {
			t.Fatal(err)
		}
		n := res.Targets[0].Counts
		sent, received, lost := n[control.CountSent], n[control.CountReceived], n[control.CountLost]
		if sent != received+lost || n[control.CountUnfinished]+n[control.CountContent]+n[control.CountDisconnects] != 0 {
			t.Errorf("%+v: %v: sent is not received and lost together", c, n)
		}
		// Either way may lose it.
		if want := float64(sent) * (1 - (1-c.loss)*(1-c.loss)); float64(lost) < want/2 || float64(lost) > 2*want {
			t.Errorf("%+v: lost %d of %d, want about %.0f", c, lost, sent, want)
		}
		if got := n[control.CountDuplicate] > 0; got != (c.duplicate > 0) {
			t.Errorf("%+v: %d duplicates", c, n[control.CountDuplicate])
		}
	}
}

// run lets time pass until done is closed.
func run(t *testing.T, m *conformance.Memory, done <-chan struct{}) {
	t.Helper()
	closed := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if err := m.Run(closed); err != nil {
		t.Fatal(err)
	}
}
