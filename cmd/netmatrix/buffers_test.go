package main

import (
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

// Far more in flight than the sockets hold: two ends that both waited to write
// before they read would wait for ever. As much is in flight as a cell may have.
func TestSmallBuffersDoNotDeadlock(t *testing.T) {
	w := newWorkspace(t, anySuite)
	for _, c := range newCellSpace(w.plugins(t)).contenders() {
		for _, placement := range cell.Values("placement") {
			t.Run(c.String()+" "+placement, func(t *testing.T) {
				x := cell.Cell{
					IOModel: cell.Shared, Threads: 1, Protocol: "tcp", Payload: 1 << 20, Clients: 16, Window: 16,
					Pattern: cell.Stream, Placement: placement, LoadWait: cell.Busy, AddressFamily: cell.IPv4,
				}
				w.measureCell(t, x.With(c).Canonical(), "--send-buffer", "16KiB", "--receive-buffer", "16KiB")
			})
		}
	}
}

// Every contender there is, side by side and one after another.
func TestBenchAll(t *testing.T) {
	w := newWorkspace(t, anySuite)
	want := newCellSpace(w.plugins(t)).contenders()
	for _, placement := range cell.Values("placement") {
		t.Run(placement, func(t *testing.T) {
			r := w.netmatrix(t, "bench", "--runtime", "all", "--placement", placement, "--warmup", "20ms", "--measure", "200ms")
			r.expect(t, exitOK)
			var met []cell.Contender
			for _, rec := range decodeRecords(t, r.stdout) {
				met = append(met, rec.Cell.Contender())
				c := rec.Cell
				c.Placement = placement
				checkMeasured(t, rec, c)
			}
			if !slices.Equal(met, want) {
				t.Errorf("contenders %v, want %v", met, want)
			}
		})
	}
}
