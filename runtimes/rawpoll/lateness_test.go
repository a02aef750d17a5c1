package rawpoll

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// metronome wants to be woken once a period and notes how late it is.
type metronome struct {
	echo
	clock  func() int64
	period int64
	due    int64
	late   []int64 // room for as many beats as there are to be
	done   chan struct{}
}

func (m *metronome) Wake(out []byte) ([]byte, int64, error) {
	now := m.clock()
	if m.due == 0 {
		m.due = now
	}
	if len(m.late) == cap(m.late) {
		return out, 0, nil
	}
	m.late = append(m.late, now-m.due)
	if len(m.late) == cap(m.late) {
		close(m.done)
	}
	for m.due <= now {
		m.due += m.period
	}
	return out, m.due, nil
}

// BenchmarkLateness is how late Wake is called, polling and sleeping. On a 2-CPU
// virtual machine with much else to do, medians and p99 in µs: polling 0.4 to 0.7
// and 30 up to milliseconds; sleeping 20 to 25 and 40 to 100, which with the
// kernel's own timer slack was 75 to 90 and 130 to 250.
func BenchmarkLateness(b *testing.B) {
	for _, period := range []time.Duration{50 * time.Microsecond, 500 * time.Microsecond} {
		for _, busy := range []bool{true, false} {
			b.Run(fmt.Sprintf("period=%v/busy=%t", period, busy), func(b *testing.B) {
				start := time.Now()
				clock := func() int64 { return int64(time.Since(start)) + 1 }
				r := New()
				c := transport.Config{Clock: clock, Busy: busy}
				server, err := r.Listen(c, func() transport.Session { return &echo{} })
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { server.Close() })
				m := &metronome{clock: clock, period: int64(period), late: make([]int64, 0, b.N), done: make(chan struct{})}
				b.ResetTimer()
				client, err := r.Dial(c, server.Addrs(), []transport.Session{m})
				if err != nil {
					b.Fatal(err)
				}
				<-m.done
				b.StopTimer()
				client.Close()
				slices.Sort(m.late)
				b.ReportMetric(float64(m.late[b.N/2])/1e3, "µs-late-p50")
				b.ReportMetric(float64(m.late[b.N*99/100])/1e3, "µs-late-p99")
			})
		}
	}
}
