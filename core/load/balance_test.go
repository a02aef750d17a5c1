package load

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

// As many clients as asked for take part, however they divide among recorders,
// and both ends count the same to the message.
func TestEveryClientTakesPart(t *testing.T) {
	for _, tc := range []struct{ clients, shards, targets int }{
		{15, 8, 1}, {10, 3, 2}, {1, 2, 1}, {41, 40, 1}, {3, 0, 3},
	} {
		t.Run(fmt.Sprintf("%d clients, %d shards, %d targets", tc.clients, tc.shards, tc.targets), func(t *testing.T) {
			r := newRig(t, Config{Clients: tc.clients, Shards: tc.shards, Window: 3}, tc.targets).verified()
			var plan []control.Slice
			for i := range 2 * tc.targets {
				plan = append(plan, control.Slice{Target: i % tc.targets, Length: 10 * ms, Settle: ms, Counted: true})
			}
			r.start(plan...)
			r.finish()
			ids := make(map[uint32]bool)
			for i, l := range r.links {
				ids[l.client.id] = true
				if got, want := len(l.sent), 1+3*2*100; got != want {
					t.Errorf("session %d sent %d messages, want %d", i, got, want)
				}
			}
			if len(ids) != tc.clients*tc.targets {
				t.Errorf("%d sessions have %d numbers", len(r.links), len(ids))
			}
			for i, y := range r.result().Targets {
				wantCounts(t, y, nil)
				n := r.servers[i].Counts()
				if n.Live != int64(tc.clients) || n.Messages-n.Live != y.Counts[control.CountSent] {
					t.Errorf("target %d: the server has %d connections and %d messages, the load %d and %d sent", i, n.Live, n.Messages-n.Live, tc.clients, y.Counts[control.CountSent])
				}
			}
		})
	}
}

// The sessions of a load live on different threads; they share recorders, the
// plan and the clock. The race detector is the judge, the balance the witness.
func TestSessionsOnManyThreads(t *testing.T) {
	const clients, targets = 6, 2
	var now atomic.Int64 // goes on with traffic, and but slowly without
	clock := func() int64 { return now.Add(50) }
	l, err := New(Config{
		Protocol: tcp.Protocol(), Payload: 100, Clients: clients, Window: 8, Shards: 2, Clock: clock,
		OwnCPU: clock, TargetCPU: func(int) int64 { return clock() },
	}, targets)
	if err != nil {
		t.Fatal(err)
	}
	servers := make([]*echo.Server, targets)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range targets {
		servers[i] = echo.NewServer(echo.Config{Protocol: tcp.Protocol()})
		for _, c := range l.Sessions(i) {
			all.Go(func() { converse(t, l, c.(*session), servers[i], start, &now) })
		}
	}
	<-l.Verified()
	var plan []control.Slice
	for i := range 6 {
		plan = append(plan, control.Slice{Target: i % targets, Length: 200 * us, Settle: 50 * us, Counted: true})
	}
	if err := l.Start(plan); err != nil {
		t.Fatal(err)
	}
	close(start)
	<-l.Done()
	res, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	all.Wait()
	for i, y := range res.Targets {
		wantCounts(t, y, nil)
		if got, want := y.Counts[control.CountReceived], servers[i].Counts().Messages-clients; got != want || got == 0 {
			t.Errorf("target %d: received %d, the server answered %d", i, got, want)
		}
		var served int64
		for j, s := range res.Slices {
			if plan[j].Target == i {
				served += s.Served
			}
		}
		if served != y.Counts[control.CountReceived] {
			t.Errorf("target %d: %d received, but %d served over all slices", i, y.Counts[control.CountReceived], served)
		}
	}
}

// converse is the runtime of one connection: it goes on until the load is done.
func converse(t *testing.T, l *Load, client *session, s *echo.Server, start <-chan struct{}, now *atomic.Int64) {
	server := s.Session()
	must := func(out []byte, err error) []byte {
		if err != nil {
			t.Error(err)
		}
		return out
	}
	must(server.Open(nil))
	wake := func(out []byte) ([]byte, int64) {
		out, next, err := client.Wake(out)
		return must(out, err), next
	}
	up, _ := wake(must(client.Open(nil)))
	must(client.Data(must(server.Data(up, nil)), nil))
	<-start
	up, next := wake(nil)
	for !closed(l.Done()) {
		if len(up) > 0 {
			up = must(client.Data(must(server.Data(up, nil)), nil))
		}
		if next != 0 && now.Add(1) >= next {
			up, next = wake(up)
		}
		runtime.Gosched()
	}
	client.Close(nil)
	server.Close(nil)
}
