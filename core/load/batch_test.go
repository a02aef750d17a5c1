package load

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
)

// A batch is sent whole once all of the one before is back, and timed as one.
func TestBatch(t *testing.T) {
	const clients, window = 2, 8
	r := newRig(t, Config{Batch: true, Clients: clients, Window: window, Work: 2}, 1).verified()
	for _, l := range r.links {
		l.sent = nil
	}
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if len(echoes)%window != 0 {
			t.Errorf("%d messages were answered at once, want whole batches of %d", len(echoes), window)
		}
		return echoes
	}
	r.start(control.Slice{Length: 10 * ms, Settle: 2 * ms, Counted: true})
	r.finish()
	res := r.result()
	s, y := res.Slices[0], res.Targets[0]
	wantCounts(t, y, nil)
	if got, want := y.Counts[control.CountSent], int64(clients*window*100); got != want {
		t.Errorf("sent %d messages, want %d", got, want)
	}
	if got, want := s.RoundTrips, int64(clients*window*80); got != want {
		t.Errorf("%d round trips, want %d: each message is one", got, want)
	}
	batches := int64(clients * 80)
	if h := histogram(t, y); h.Count() != batches || y.MaxRTT != r.tick || s.RTTSum != batches*r.tick {
		t.Errorf("%d RTTs, maximum %d, sum %d; want one of %d ns for each of %d batches", h.Count(), y.MaxRTT, s.RTTSum, r.tick, batches)
	}
	for _, l := range r.links {
		for i := range l.sent {
			if l.sent[i] != l.sent[i/window*window] {
				t.Fatalf("message %d was sent apart from its batch", i)
			}
		}
	}
}

// An answer that comes in pieces: nothing is sent until the last, which ends
// the RTT.
func TestBatchInPieces(t *testing.T) {
	const window = 8
	r := newRig(t, Config{Batch: true, Window: window}, 1).verified()
	r.start(control.Slice{Length: 100 * ms, Counted: true})
	l := r.links[0]
	begin, down := r.now, l.down
	l.down, l.sent = nil, nil
	for at := 0; at < len(down); at += 100 {
		if len(l.sent) > 0 {
			t.Fatalf("%d messages were sent with %d bytes of the answer out", len(l.sent), len(down)-at)
		}
		r.now += 10 * us
		l.data(down[at:min(at+100, len(down))])
	}
	if len(l.sent) != window {
		t.Errorf("%d messages sent after the whole answer, want %d", len(l.sent), window)
	}
	s := r.result().Slices[0]
	if s.RoundTrips != window || s.RTTSum != r.now-begin {
		t.Errorf("%d round trips, RTT %d; want %d, %d", s.RoundTrips, s.RTTSum, window, r.now-begin)
	}
}

func TestBatchWithWrongEcho(t *testing.T) {
	r := newRig(t, Config{Batch: true, Window: 4, CheckAll: true}, 1).verified()
	r.mangle = once(func(e [][]byte) [][]byte {
		e[1][message.HeaderBytes] ^= 1
		return e
	})
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	res := r.result()
	wantCounts(t, res.Targets[0], map[string]int64{control.CountContent: 1})
	if got, want := res.Slices[0].RoundTrips, int64(395); got != want {
		t.Errorf("%d round trips, want %d", got, want)
	}
}
