package rawpoll

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// patience bounds every wait of a test for something that should come at once.
const patience = 10 * time.Second

// echo sends back what comes, from the buffer it came in.
type echo struct{}

func (echo) Open(out []byte) ([]byte, error)     { return out, nil }
func (echo) Data(in, out []byte) ([]byte, error) { return in, nil }
func (echo) End(out []byte) ([]byte, error)      { return out, nil }
func (echo) Close(error)                         {}

// setups are all the ways a connection can be run.
func setups(t *testing.T, f func(t *testing.T, c transport.Config)) {
	for _, execution := range []string{callback, goroutine} {
		for _, io := range []struct {
			model   string
			threads int
		}{{shared, 1}, {shared, 3}, {sharded, 3}} {
			t.Run(fmt.Sprintf("%s-%s-%d", execution, io.model, io.threads), func(t *testing.T) {
				f(t, transport.Config{Execution: execution, IOModel: io.model, Threads: io.threads})
			})
		}
	}
}

func listen(t *testing.T, r *Runtime, c transport.Config) transport.Group {
	t.Helper()
	g, err := r.Listen(c, func() transport.Session { return echo{} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// random returns n bytes, the same each time.
func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// TestBothEndsOnOneLoop is what colocated cells rely on: connection i belongs to
// loop i mod N, whichever end one looks at.
func TestBothEndsOnOneLoop(t *testing.T) {
	r := New()
	c := transport.Config{IOModel: sharded, Threads: 3}
	server := listen(t, r, c)
	sessions := make([]transport.Session, 10)
	for i := range sessions {
		sessions[i] = echo{}
	}
	client, err := r.Dial(c, server.Addrs(), sessions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	eventually(t, "all accepted", func() bool { return server.Live() == len(sessions) })

	home := map[string]int{} // loop of the accepted end, by the dialled end's address
	for i, l := range r.loops {
		for _, h := range l.handles.all() {
			if c, ok := h.source.(*conn); ok && !c.dialled {
				home[c.peer.String()] = i
			}
		}
	}
	for i, addr := range client.Addrs() {
		if got, want := home[addr], i%len(r.loops); got != want {
			t.Errorf("connection %d was accepted on loop %d, want %d", i, got, want)
		}
	}
}

// TestWorking counts while messages flow, and not while nothing does.
func TestWorking(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		start := time.Now()
		g, windows := pair(t, c, 2, 4, 1024)
		exchange(g, windows, 1000)
		worked := g.(transport.Worker).Working()
		if most := int64(time.Since(start)) * int64(c.Threads); worked <= 0 || worked > most {
			t.Errorf("worked %d ns, want more than 0 and at most %d", worked, most)
		}
	})
}
