package driver_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// A twin is measured in a process of its own, and its record tells it from its
// original's by nothing but the mark.
func TestTwin(t *testing.T) {
	d := newDriver(t, "exits-serving")
	good := cell.Contender{Runtime: "good", Execution: cell.Callback}
	for _, placement := range []string{cell.Split, cell.Colocated} {
		tr := trial(placement, "good")
		if placement == cell.Colocated {
			tr.Contenders = nil // the original has a trial of its own
		}
		tr.Twin = good
		recs, err := d.Run(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		if len(recs) != len(tr.Contenders)+1 {
			t.Fatalf("%s: %d records of %d contenders and a twin", placement, len(recs), len(tr.Contenders))
		}
		for i, r := range recs {
			if r.Status != record.OK || r.Cell.Contender() != good || r.Twin != (i == len(tr.Contenders)) {
				t.Errorf("%s: record %d: %s (%s) of %s, twin %t", placement, i, r.Status, r.Reason, r.Cell.Contender(), r.Twin)
			}
		}
		if placement == cell.Split && recs[0].Server.PID == recs[1].Server.PID {
			t.Error("the twin shares the process of its original")
		}
	}
	tr := trial(cell.Split, "good", "exits-serving")
	tr.Twin = cell.Contender{Runtime: "exits-serving", Execution: cell.Callback}
	recs, err := d.Run(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if recs[0].Status != record.OK || recs[1].Status != record.Failed || recs[2].Status != record.Failed || !recs[2].Twin {
		t.Errorf("statuses %s, %s, %s; want a good contender, a bad one and its bad twin", recs[0].Status, recs[1].Status, recs[2].Status)
	}
}
