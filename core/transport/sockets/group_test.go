package sockets

import (
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// closable is a listener that returns err from each call until it is closed,
// and notes when the calls came.
type closable struct {
	err    error
	start  time.Time
	calls  []time.Duration // since start
	closed atomic.Bool
}

func (l *closable) AcceptTCP() (*net.TCPConn, error) {
	if l.closed.Load() {
		return nil, net.ErrClosed
	}
	l.calls = append(l.calls, time.Since(l.start))
	return nil, l.err
}

// An error that stays must not become a loop that takes a whole processor.
func TestAcceptRestsWhileDescriptorsAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(nil)
		ln := &closable{err: syscall.EMFILE, start: time.Now()}
		g.goroutines.Go(func() { g.accept(ln, nil) })
		time.Sleep(4 * time.Second) // of the bubble, which takes none
		synctest.Wait()
		want := []time.Duration{0, 5, 15, 35, 75, 155, 315, 635, 1275, 2275, 3275}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(ln.calls, want) {
			t.Errorf("accept was called at %v, want %v", ln.calls, want)
		}
		closing := time.Now()
		g.Close()
		if rested := time.Since(closing); rested != 0 {
			t.Errorf("Close waited %v for a listener at rest", rested)
		}
	})
}

func TestAcceptEndsWithItsListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(nil)
		ln := &closable{err: syscall.ECONNABORTED, start: time.Now()}
		g.goroutines.Go(func() { g.accept(ln, nil) })
		synctest.Wait()
		ln.closed.Store(true)
		g.goroutines.Wait()
	})
}

// member runs until it is cut, and counts how often it was.
type member struct {
	cuts atomic.Int64
	over chan struct{}
}

func (m *member) Run() { <-m.over }
func (m *member) Ask() {}

func (m *member) Cut() {
	m.cuts.Add(1)
	close(m.over)
}

func TestCloseCutsEveryMemberOnce(t *testing.T) {
	g := newGroup(nil)
	before := &member{over: make(chan struct{})}
	g.start(before)
	if got := g.Live(); got != 1 {
		t.Errorf("%d live, want 1", got)
	}
	g.Close()
	g.Close()
	// A connection that was accepted while Close went through the others.
	after := &member{over: make(chan struct{})}
	g.start(after)
	g.goroutines.Wait()
	for name, m := range map[string]*member{"before": before, "after": after} {
		if got := m.cuts.Load(); got != 1 {
			t.Errorf("the member that came %s Close was cut %d times, want once", name, got)
		}
	}
	if got := g.Live(); got != 0 {
		t.Errorf("%d live, want 0", got)
	}
}

func TestOverlap(t *testing.T) {
	b := make([]byte, 10)
	for _, c := range []struct {
		name string
		a, b []byte
		want bool
	}{
		{"the same", b, b, true},
		{"one inside the other", b[2:4], b, true},
		{"one shared byte", b[:5], b[4:], true},
		{"neighbours", b[:5], b[5:], false},
		{"apart", b, make([]byte, 10), false},
		{"empty, of the same memory", b[:0], b, false},
	} {
		if got, back := Overlap(c.a, c.b), Overlap(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%s: got %v and, the other way round, %v, want %v", c.name, got, back, c.want)
		}
	}
}
