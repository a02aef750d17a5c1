package report_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// published is one row of the reference's tables.
type published struct {
	cell      cell.Cell
	rate, mib float64
}

func reference(t *testing.T) []published {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []published
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		p := published{cell: cell.Cell{Execution: cell.Callback, Protocol: "tcp", Placement: cell.Colocated, LoadWait: cell.Sleep, AddressFamily: cell.IPv4}}
		c := &p.cell
		if _, err := fmt.Sscan(line, &c.Pattern, &c.Work, &c.Payload, &c.Clients, &c.Window, &c.Runtime, &c.IOModel, &c.Threads, &p.rate, &p.mib); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		rows = append(rows, p)
	}
	return rows
}

// Our definition of MiB/s is the one the reference used: both directions, within
// what its rounding of the rate and of the result allows.
func TestReferenceMiBPerSecond(t *testing.T) {
	rows := reference(t)
	if len(rows) != 180 {
		t.Fatalf("%d rows, want the 180 published", len(rows))
	}
	for _, p := range rows {
		perTrip := 2 * float64(p.cell.Payload) / 1048576
		if got := perTrip * p.rate; math.Abs(got-p.mib) > perTrip/2+0.005+1e-9 {
			t.Errorf("%s at %.0f/s: %.3f MiB/s, the reference says %.2f", p.cell, p.rate, got, p.mib)
		}
	}
}

// The reference's headline ratios follow from its figures by our rules.
func TestReferenceRatios(t *testing.T) {
	for _, tt := range []struct {
		pattern, want string
		work          int64
	}{
		{cell.Stream, "sharded × 4 with standalone/callback, 367,535 round trips/s, 1.98 × that of shared × 1", 0},
		{cell.Batch, "shared × 4 with standalone/callback, 503,863 round trips/s, 1.84 × that of shared × 1", 0},
		{cell.Batch, "sharded × 4 with standalone/callback, 163,155 round trips/s, 3.54 × that of shared × 1", 10000},
	} {
		run := newRun("r", "reference", "io_model")
		run.Rounds = 1 // published are medians, and no single rounds
		var recs []record.Record
		for _, p := range reference(t) {
			if p.cell.Runtime == "standalone" && p.cell.Pattern == tt.pattern && p.cell.Work == tt.work {
				r := simulate(p.cell, 1)
				r.Metrics.RoundTripsPerSecond, r.RunID, r.Order = p.rate, run.RunID, len(recs)+1
				recs = append(recs, r)
			}
		}
		got := pages([]compare.Results{{Run: run, Records: recs}})["index.md"]
		if want := "highest median throughput of this group: " + tt.want; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
