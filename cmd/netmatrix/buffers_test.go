package main

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Far more in flight than the sockets hold: two ends that both waited to write
// before they read would wait for ever. As much is in flight as a cell may have.
func TestSmallBuffersDoNotDeadlock(t *testing.T) {
	w := newWorkspace(t, anySuite)
	for _, placement := range cell.Values("placement") {
		t.Run(placement, func(t *testing.T) {
			r := w.netmatrix(t, "bench", "--runtime", "all", "--placement", placement,
				"--clients", "16", "--window", "16", "--payload", "1MiB",
				"--send-buffer", "16KiB", "--receive-buffer", "16KiB",
				"--warmup", "20ms", "--measure", "1s")
			r.expect(t, exitOK)
			for _, rec := range decodeRecords(t, r.stdout) {
				if rec.Status != record.OK || rec.Metrics.RoundTrips == 0 {
					t.Errorf("%s: %s, %s", rec.Cell, rec.Status, rec.Reason)
				}
			}
		})
	}
}

// Every contender there is, side by side and one after another.
func TestBenchAll(t *testing.T) {
	w := newWorkspace(t, anySuite)
	want := make(map[cell.Contender]bool)
	space := newCellSpace(w.plugins(t))
	for _, p := range space.legal() {
		want[space.cell(p).Contender()] = true
	}
	for _, placement := range cell.Values("placement") {
		t.Run(placement, func(t *testing.T) {
			r := w.netmatrix(t, "bench", "--runtime", "all", "--placement", placement, "--warmup", "20ms", "--measure", "200ms")
			r.expect(t, exitOK)
			met := make(map[cell.Contender]bool)
			for _, rec := range decodeRecords(t, r.stdout) {
				met[rec.Cell.Contender()] = true
				c := rec.Cell
				c.Placement = placement
				checkMeasured(t, rec, c)
			}
			if len(met) != len(want) {
				t.Errorf("contenders %v, want %v", met, want)
			}
		})
	}
}
