package agent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/coroutine"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
	"github.com/netmatrix/netmatrix/runtimes/stdnet"
)

// prepare starts an agent over rt.
func prepare(t *testing.T, rt transport.Runtime, s control.Setup) (*agent.Agent, control.Ready) {
	t.Helper()
	a := agent.New(rt, all.Protocols())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ready, err := a.Prepare(ctx, s)
	if err != nil {
		t.Fatalf("prepare %s: %v", s.Role, err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop %s: %v", s.Role, err)
		}
	})
	return a, ready
}

// datagramCell measures c with rt as the server, over real sockets, and returns
// what the load counted, what the server answered meanwhile and the smaller
// receive buffer of the two.
func datagramCell(t *testing.T, rt transport.Runtime, c cell.Cell) (counts map[string]int64, answered int64, room int) {
	t.Helper()
	s := control.Setup{
		Role: control.RoleServer, Cell: c, Threads: c.Threads, IOModel: c.IOModel, Seed: 1, CheckAll: true,
		LossAfter: int64(200 * time.Millisecond), DrainFor: int64(2 * time.Second),
	}
	server, listening := prepare(t, rt, s)
	s.Role, s.Threads = control.RoleLoad, 1
	s.Targets = []control.Target{{Name: "server", Addrs: listening.Addrs}}
	client, dialled := prepare(t, rawpoll.New(), s)

	before, err := server.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Measure(t.Context(), []control.Slice{{Length: int64(50 * time.Millisecond), Counted: true}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := server.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res.Targets[0].Counts, after.Messages - before.Messages, min(listening.Receive, dialled.Receive)
}

// Whatever the sizes, every datagram sent is received or lost, and none is lost
// while the socket buffers hold all that is in flight.
func TestEveryDatagramIsReceivedOrLost(t *testing.T) {
	for _, r := range []struct {
		runtime   func() transport.Runtime
		execution string
	}{
		{func() transport.Runtime { return rawpoll.New() }, cell.Callback},
		{func() transport.Runtime { return rawpoll.New() }, cell.Goroutine},
		{func() transport.Runtime { return stdnet.New() }, cell.Callback},
		{func() transport.Runtime { return coroutine.New() }, cell.Goroutine},
	} {
		for _, clients := range []int{1, 16} {
			for _, window := range []int{1, 16} {
				for _, payload := range []int{64, 1024, 16384, 65507} {
					c := cell.Cell{
						Runtime: r.runtime().Info().Name, Execution: r.execution, IOModel: cell.Shared, Threads: 1,
						Protocol: "udp", Payload: payload, Clients: clients, Window: window,
						Pattern: cell.Stream, Placement: cell.Split, LoadWait: cell.Sleep, AddressFamily: cell.IPv4,
					}
					t.Run(fmt.Sprintf("%s-%s-%d×%d-%d", c.Runtime, c.Execution, clients, window, payload), func(t *testing.T) {
						n, answered, room := datagramCell(t, r.runtime(), c)
						sent, received, lost, late := n[control.CountSent], n[control.CountReceived], n[control.CountLost], n[control.CountLate]
						if received == 0 || sent != received+lost || n[control.CountUnfinished] != 0 || n[control.CountContent] != 0 || n[control.CountDisconnects] != 0 {
							t.Errorf("sent is not received and lost together: %v", n)
						}
						if answered < received+late || answered > sent {
							t.Errorf("the server answered %d: %v", answered, n)
						}
						// A kernel charges a datagram to the buffer with what it wraps it in.
						if charged := clients * window * (2*payload + 1024); charged <= room && lost != late {
							t.Errorf("%d lost, %d of them late, with %d bytes in flight and room for %d", lost, late, charged, room)
						}
					})
				}
			}
		}
	}
}

// A sharded server has a port for each thread and no connections to count.
func TestDatagramServerAcceptsNobody(t *testing.T) {
	c := cell.Cell{
		Runtime: "rawpoll", Execution: cell.Callback, IOModel: cell.Sharded, Threads: 3,
		Protocol: "udp", Payload: 64, Clients: 5, Window: 1,
		Pattern: cell.Stream, Placement: cell.Split, LoadWait: cell.Sleep, AddressFamily: cell.IPv4,
	}
	server, ready := prepare(t, rawpoll.New(), control.Setup{Role: control.RoleServer, Cell: c, Threads: c.Threads, IOModel: c.IOModel})
	if len(ready.Addrs) != c.Threads {
		t.Errorf("listening at %v, want %d ports", ready.Addrs, c.Threads)
	}
	if ready.Send <= 0 || ready.Receive <= 0 {
		t.Errorf("granted buffers are %d and %d bytes, want them named", ready.Send, ready.Receive)
	}
	counters, err := server.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if counters.Accepted != -1 {
		t.Errorf("accepted %d, want -1: there is nothing to accept", counters.Accepted)
	}
}
