package driver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/record"
)

func datagramTrial(placement, name string) driver.Trial {
	tr := trial(placement, name)
	tr.Scenario.Protocol = "udp"
	return tr
}

// A server that drops datagrams on purpose: each drop is counted, frees its
// place in the window, and the run ends on time. Few are an outcome, more than
// the limit invalidate.
func TestLossIsCountedAndLimited(t *testing.T) {
	for _, every := range []int64{150, 20} {
		for _, window := range []int{1, 8} {
			t.Run(fmt.Sprintf("1 in %d, window %d", every, window), func(t *testing.T) {
				name := fmt.Sprintf("drops-1-in-%d", every)
				tr := datagramTrial(cell.Split, name)
				tr.Scenario.Window, tr.Scenario.LoadWait = window, cell.Sleep
				tr.Warmup, tr.Measure = 0, time.Second // everything is counted
				d := newDriver(t, name)
				began := time.Now()
				rec := measure(t, d, tr)[0]
				if took := time.Since(began); took > tr.Measure+5*time.Second {
					t.Errorf("it took %v for a plan of %v", took, tr.Measure)
				}
				if rec.Metrics == nil {
					t.Fatalf("no figures: %s, %s", rec.Status, rec.Reason)
				}
				lost, late := rec.Errors[control.CountLost], rec.Errors[control.CountLate]
				sent := rec.Metrics.RoundTrips + lost // and a window's worth at the very end
				// A machine that is busy otherwise makes answers late, which are lost first.
				if dropped, want := lost-late, sent/every; dropped < want-1 || dropped > want+2 {
					t.Errorf("%d lost and %d late of about %d, want %d dropped", lost, late, sent, want)
				}
				for _, k := range []string{control.CountContent, control.CountDuplicate, control.CountDisconnects} {
					if n := rec.Errors[k]; n != 0 {
						t.Errorf("%d %s", n, k)
					}
				}
				// Unfinished is what such a machine has in flight when it stalls at the end.
				unfinished := rec.Errors[control.CountUnfinished]
				switch {
				case every == 20 && (rec.Status != record.Invalid || !strings.Contains(strings.Join(rec.Validity.Reasons, "; "), "over the limit of 1 %")):
					t.Errorf("%s, %q: want it invalid for %d lost of about %d", rec.Status, rec.Validity.Reasons, lost, sent)
				case every == 150 && late+unfinished == 0 && rec.Status != record.OK:
					t.Errorf("%s, %q: want it ok with %d lost of about %d", rec.Status, rec.Reason, lost, sent)
				}
			})
		}
	}
}

// Datagrams have no connections to count; the checked exchanges are the proof
// that every client is served. Each thread of a sharded server has a socket.
func TestDatagramTrials(t *testing.T) {
	for _, placement := range []string{cell.Split, cell.Colocated} {
		for _, model := range []string{cell.Shared, cell.Sharded} {
			t.Run(placement+" "+model, func(t *testing.T) {
				tr := datagramTrial(placement, "good")
				tr.Scenario.IOModel, tr.Scenario.Threads, tr.Scenario.LoadWait = model, 2, cell.Sleep
				tr.Measure = time.Second
				rec := measure(t, newDriver(t), tr)[0]
				if rec.Metrics == nil || rec.Metrics.RoundTrips == 0 {
					t.Fatalf("no round trips: %s, %s", rec.Status, rec.Reason)
				}
				if stalled := rec.Errors[control.CountLost] + rec.Errors[control.CountUnfinished]; stalled == 0 && rec.Status != record.OK {
					t.Errorf("%s: %q", rec.Status, rec.Validity.Reasons)
				}
				for _, why := range rec.Validity.Reasons {
					if strings.Contains(why, "connections") {
						t.Errorf("connections were counted: %s", why)
					}
				}
				p := rec.Server
				if placement == cell.Colocated {
					p = rec.Process
				}
				if p.SendBufferBytes <= 0 || p.ReceiveBufferBytes <= 0 {
					t.Errorf("granted buffers are %d and %d bytes, want them named", p.SendBufferBytes, p.ReceiveBufferBytes)
				}
			})
		}
	}
}
