package rawpoll

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/netmatrix/netmatrix/core/transport"
)

// window keeps a number of messages of one size in flight until all that were
// asked for are back. A message may be cut anywhere, so it counts bytes.
type window struct {
	echo
	payload  []byte
	inFlight int
	asked    atomic.Int64 // for the next Wake to start
	left     int          // to send
	out      int          // to come back
	partial  int          // bytes of an incomplete one
	done     chan struct{}
}

func (w *window) Wake(out []byte) ([]byte, int64, error) {
	if n := int(w.asked.Swap(0)); n > 0 {
		w.left, w.out = n, n
		for range w.inFlight {
			out = w.send(out)
		}
	}
	return out, 0, nil
}

func (w *window) send(out []byte) []byte {
	if w.left == 0 {
		return out
	}
	w.left--
	return append(out, w.payload...)
}

func (w *window) Data(in, out []byte) ([]byte, error) {
	for w.partial += len(in); w.partial >= len(w.payload); w.partial -= len(w.payload) {
		out = w.send(out)
		if w.out--; w.out == 0 {
			w.done <- struct{}{}
		}
	}
	return out, nil
}

// framed answers whole length-prefixed messages, as a protocol would.
type framed struct {
	echo
	tail []byte
}

func (f *framed) Data(in, out []byte) ([]byte, error) {
	if len(f.tail) > 0 {
		f.tail = append(f.tail, in...)
		in = f.tail
	}
	for len(in) >= 4 {
		n := int(binary.BigEndian.Uint32(in))
		if len(in) < n {
			break
		}
		out = append(out, in[:n]...)
		in = in[n:]
	}
	f.tail = append(f.tail[:0], in...)
	return out, nil
}

// pair opens clients over one runtime, both ends on the same threads.
func pair(tb testing.TB, c transport.Config, clients, inFlight, size int) (transport.Group, []*window) {
	tb.Helper()
	r := New()
	c.DatagramBytes = size
	if c.Network == udp { // what has no room is lost, and nobody here sends again
		c.ReceiveBuffer = 4 << 20
	}
	server, err := r.Listen(c, func() transport.Session { return &framed{} })
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { server.Close() })
	payload := make([]byte, size)
	binary.BigEndian.PutUint32(payload, uint32(size))
	done := make(chan struct{}, clients)
	var windows []*window
	var sessions []transport.Session
	for range clients {
		w := &window{payload: payload, inFlight: inFlight, done: done}
		windows = append(windows, w)
		sessions = append(sessions, w)
	}
	client, err := r.Dial(c, server.Addrs(), sessions)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { client.Close() })
	return client, windows
}

// exchange has every window send n messages and waits for the echoes.
func exchange(g transport.Group, windows []*window, n int) {
	for _, w := range windows {
		w.asked.Store(int64(n))
	}
	g.Wake()
	for range windows {
		<-windows[0].done
	}
}

func BenchmarkEcho(b *testing.B) { benchmark(b, "tcp") }

func BenchmarkDatagrams(b *testing.B) { benchmark(b, udp) }

func benchmark(b *testing.B, network string) {
	for _, execution := range []string{callback, goroutine} {
		for _, load := range []struct{ clients, window int }{{16, 16}, {1, 1}} {
			for _, size := range []int{64, 1024, 16384} {
				b.Run(fmt.Sprintf("%s/clients=%d/window=%d/size=%d", execution, load.clients, load.window, size), func(b *testing.B) {
					g, windows := pair(b, transport.Config{Network: network, Execution: execution}, load.clients, load.window, size)
					exchange(g, windows, load.window)
					b.ReportAllocs()
					b.ResetTimer()
					exchange(g, windows, max(load.window, b.N/load.clients))
				})
			}
		}
	}
}
