package conformance_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

// asker keeps a window of numbered datagrams in flight, gives up on each after
// a while, and is done when it has settled n.
type asker struct {
	clock                            func() int64
	n, window                        int
	lossAfter                        int64
	next                             uint64
	sentAt                           map[uint64]int64 // in flight
	given                            map[uint64]bool  // given up
	answered, lost, late, duplicates int
	closed                           []error
}

func newAsker(clock func() int64, n, window int, lossAfter int64) *asker {
	return &asker{clock: clock, n: n, window: window, lossAfter: lossAfter,
		sentAt: map[uint64]int64{}, given: map[uint64]bool{}}
}

func (a *asker) refill(out []byte) []byte {
	for len(a.sentAt) < a.window && int(a.next) < a.n {
		out = binary.BigEndian.AppendUint64(out, a.next)
		a.sentAt[a.next] = a.clock()
		a.next++
	}
	return out
}

func (a *asker) settled() bool { return a.answered+a.lost == a.n }

func (a *asker) Open(out []byte) ([]byte, error) { return out, nil }

func (a *asker) Data(in, out []byte) ([]byte, error) {
	id := binary.BigEndian.Uint64(in)
	if _, ok := a.sentAt[id]; ok {
		delete(a.sentAt, id)
		a.answered++
	} else if a.given[id] {
		delete(a.given, id)
		a.late++
	} else {
		a.duplicates++
	}
	return a.refill(out), nil
}

func (a *asker) Wake(out []byte) ([]byte, int64, error) {
	now := a.clock()
	var oldest int64
	for id, at := range a.sentAt {
		if at+a.lossAfter <= now {
			delete(a.sentAt, id)
			a.given[id] = true
			a.lost++
		}
	}
	out = a.refill(out)
	for _, at := range a.sentAt {
		if oldest == 0 || at < oldest {
			oldest = at
		}
	}
	if oldest == 0 {
		return out, 0, nil
	}
	return out, oldest + a.lossAfter, nil
}

func (a *asker) End(out []byte) ([]byte, error) { return out, nil }
func (a *asker) Close(err error)                { a.closed = append(a.closed, err) }

func echoDatagrams(seen *int) func() transport.Session {
	return func() transport.Session {
		return &script{data: func(in, out []byte) ([]byte, error) {
			*seen++
			return append(out, in...), nil
		}}
	}
}

func TestLossyWindowFinishesWithExactCounts(t *testing.T) {
	const n, window, lossAfter = 2000, 8, 10_000_000
	for _, seed := range []uint64{1, 2, 3} {
		m := conformance.NewMemory(conformance.Conditions{
			Seed: seed, Latency: 50_000, Loss: 0.02, Duplicate: 0.01, Jitter: 100_000,
		})
		served := 0
		a := newAsker(m.Clock, n, window, lossAfter)
		c := transport.Config{Network: "udp", DatagramBytes: 8}
		g, d := pair(t, m, c, echoDatagrams(&served), a)
		run(t, m, func() bool { return a.settled() })
		run(t, m, nil) // what is late may still come
		if a.answered+a.lost != n || a.lost == 0 || a.lost > n/10 {
			t.Errorf("seed %d: %d answered and %d lost of %d at 2 %% loss each way", seed, a.answered, a.lost, n)
		}
		if a.late != 0 {
			t.Errorf("seed %d: %d answers came after %d ns, later than any can", seed, a.late, int64(lossAfter))
		}
		if a.duplicates == 0 || served < n-a.lost {
			t.Errorf("seed %d: %d duplicates, %d served", seed, a.duplicates, served)
		}
		d.Close()
		g.Close()
		if len(a.closed) != 1 {
			t.Errorf("seed %d: closed %d times", seed, len(a.closed))
		}
	}
}

func TestDatagramsOvertake(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{Seed: 5, Latency: 1000, Jitter: 1000})
	var got []byte
	server := &script{data: func(in, out []byte) ([]byte, error) {
		got = append(got, in...)
		return out, nil
	}}
	client := &script{open: func(out []byte) ([]byte, error) { return append(out, "abcdefghijklmnop"...), nil }}
	pair(t, m, transport.Config{Network: "udp", DatagramBytes: 1}, func() transport.Session { return server }, client)
	run(t, m, nil)
	if len(got) != 16 || string(got) == "abcdefghijklmnop" {
		t.Errorf("got %q, want 16 letters out of order", got)
	}
}

func TestDatagramsGoToEachShard(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	served := make([]int, 2)
	made := 0
	c := transport.Config{Network: "udp", IOModel: "sharded", Threads: 2}
	clients := make([]transport.Session, 5)
	answers := make([]int, len(clients))
	for i := range clients {
		clients[i] = &script{
			open: func(out []byte) ([]byte, error) { return append(out, byte(i)), nil },
			data: func(in, out []byte) ([]byte, error) {
				if int(in[0]) != i {
					t.Errorf("client %d got the answer for %d", i, in[0])
				}
				answers[i]++
				return out, nil
			},
		}
	}
	g, _ := pair(t, m, c, func() transport.Session {
		made++
		return echoDatagrams(&served[made-1])()
	}, clients...)
	run(t, m, nil)
	if len(g.Addrs()) != 2 || made != 2 || served[0] != 3 || served[1] != 2 {
		t.Errorf("%d addresses, %d sessions, served %v; want 2, 2 and [3 2]", len(g.Addrs()), made, served)
	}
	for i, n := range answers {
		if n != 1 {
			t.Errorf("client %d got %d answers", i, n)
		}
	}
}

func TestDatagramTooLong(t *testing.T) {
	m := conformance.NewMemory(conformance.Conditions{})
	served := 0
	client := &script{open: func(out []byte) ([]byte, error) { return append(out, make([]byte, 65508)...), nil }}
	pair(t, m, transport.Config{Network: "udp"}, echoDatagrams(&served), client)
	if err := m.Run(nil); err == nil || !strings.Contains(err.Error(), "65508") {
		t.Errorf("got %v, want an error that names the length", err)
	}
}
