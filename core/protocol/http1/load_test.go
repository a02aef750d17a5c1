package http1_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// patience bounds every wait for something that should come at once.
const patience = 20 * time.Second

// wantAllBack holds a load that is done to having had every message back, and
// right.
func wantAllBack(t *testing.T, l *load.Load) (received int64) {
	t.Helper()
	res, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range res.Targets {
		for key, n := range y.Counts {
			if n != 0 && key != control.CountSent && key != control.CountReceived && key != control.CountReads {
				t.Errorf("%s: %d, want 0; first errors %q", key, n, y.FirstErrors)
			}
		}
		received += y.Counts[control.CountReceived]
	}
	if received == 0 {
		t.Error("nothing came back")
	}
	return received
}

// TestLoadAndEchoInMemory has both ends talk over a network that cuts streams
// in the ways that it can.
func TestLoadAndEchoInMemory(t *testing.T) {
	cuts := []conformance.Cut{
		conformance.Whole(), conformance.Glued(), conformance.Bytes(), conformance.Random(),
		conformance.At(1), conformance.At(50), conformance.At(110), conformance.At(150),
	}
	for _, cut := range cuts {
		for _, payload := range []int{16, 3000} {
			t.Run(fmt.Sprintf("%s, payload %d", cut.Name, payload), func(t *testing.T) {
				m := conformance.NewMemory(conformance.Conditions{Cut: cut, Latency: 20_000, Seed: 1})
				l, err := load.New(load.Config{
					Protocol: http1.Protocol(), Payload: payload, Clients: 2, Window: 4, CheckAll: true, Work: 10, Clock: m.Clock,
				}, 1)
				if err != nil {
					t.Fatal(err)
				}
				server := echo.NewServer(echo.Config{Protocol: http1.Protocol(), Work: 10})
				listening, err := m.Listen(transport.Config{Clock: m.Clock}, server.Session)
				if err != nil {
					t.Fatal(err)
				}
				dialled, err := m.Dial(transport.Config{Clock: m.Clock}, listening.Addrs(), l.Sessions(0))
				if err != nil {
					t.Fatal(err)
				}
				until := func(done <-chan struct{}) {
					if err := m.Run(func() bool { return isClosed(done) }); err != nil {
						t.Fatal(err)
					}
				}
				until(l.Verified())
				if err := l.Start([]control.Slice{{Length: 500_000, Counted: true}}); err != nil {
					t.Fatal(err)
				}
				dialled.Wake()
				until(l.Done())
				received := wantAllBack(t, l)
				if got := server.Counts(); got.Live != 2 || got.Messages < received {
					t.Errorf("the server counts %+v, the load received %d", got, received)
				}
			})
		}
	}
}

// measure has a load talk to addrs for a little while, over sockets.
func measure(t *testing.T, l *load.Load, sessions []transport.Session, addrs []string) {
	t.Helper()
	group, err := rawpoll.New().Dial(transport.Config{Clock: monotonic}, addrs, sessions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { group.Close() })
	wait(t, l.Verified(), l)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	if err := l.Start([]control.Slice{{Length: int64(50 * time.Millisecond), Counted: true}}); err != nil {
		t.Fatal(err)
	}
	group.Wake()
	wait(t, l.Done(), l)
	wantAllBack(t, l)
}

func wait(t *testing.T, done <-chan struct{}, l *load.Load) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("not done after %v; errors so far: %v", patience, l.Err())
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var start = time.Now()

func monotonic() int64 { return int64(time.Since(start)) + 1 }

// serveSockets listens with an echo server on a runtime of its own.
func serveSockets(t *testing.T, c transport.Config, session func() transport.Session) (addr string) {
	t.Helper()
	group, err := rawpoll.New().Listen(c, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { group.Close() })
	return group.Addrs()[0]
}

// TestLoadAndEchoOverSockets has both ends talk over rawpoll. 16 messages of
// 64 KiB are more than the buffers between them hold.
func TestLoadAndEchoOverSockets(t *testing.T) {
	for _, c := range []transport.Config{{Execution: "callback"}, {Execution: "goroutine", IOModel: "sharded", Threads: 2}} {
		for _, payload := range []int{16, 1024, 64 << 10} {
			t.Run(fmt.Sprintf("%s, payload %d", c.Execution, payload), func(t *testing.T) {
				server := echo.NewServer(echo.Config{Protocol: http1.Protocol()})
				addr := serveSockets(t, c, server.Session)
				l, err := load.New(load.Config{Protocol: http1.Protocol(), Payload: payload, Clients: 3, Window: 16, CheckAll: true, Clock: monotonic}, 1)
				if err != nil {
					t.Fatal(err)
				}
				measure(t, l, l.Sessions(0), []string{addr})
			})
		}
	}
}
