package compare_test

import (
	"math"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// twinOf makes a record the twin's.
func twinOf(r record.Record) record.Record {
	r.Twin = true
	return r
}

func TestTwinsHaveNoRows(t *testing.T) {
	run := &record.Run{Suite: "s", Baseline: b, Schedule: []record.Trial{
		{Group: "tcp1", Round: 1, Scenario: tcp, Contenders: []cell.Contender{a, b}, Twin: b},
	}}
	if run.Planned() != 3 {
		t.Errorf("%d records are planned, want 3", run.Planned())
	}
	rows := compare.Rows([]compare.Results{{Run: run, Records: []record.Record{
		rec(tcp, a, 1, 1, record.OK, 1), rec(tcp, b, 1, 1, record.OK, 2), twinOf(rec(tcp, b, 1, 1, record.OK, 99)),
	}}})
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	if r := rows[0]; r.Planned != 1 || len(r.Records) != 1 || r.Series(compare.Throughput).Spread().Median != 2 {
		t.Errorf("the baseline's row has taken its twin's record: %+v", r)
	}
}

func TestNoiseFloor(t *testing.T) {
	var recs []record.Record
	for round := 1; round <= 20; round++ {
		recs = append(recs, rec(tcp, b, round, 1, record.OK, 100))
		rate := 101.0
		switch round {
		case 7:
			rate = 100 / 1.2 // a twin that is slower is as far off as one that is faster
		case 9:
			rate = 110
		}
		recs = append(recs, twinOf(rec(tcp, b, round, 1, record.OK, rate)))
	}
	recs = append(recs,
		twinOf(rec(tcp, b, 21, 1, record.OK, 500)),                                        // nothing to set it against
		rec(tcp, b, 22, 1, record.OK, 100), twinOf(rec(tcp, b, 22, 1, record.Invalid, 1)), // no figure
		rec(tcp, a, 1, 1, record.OK, 300), // another contender
	)
	all := results(recs...)
	got := compare.NoiseFloor(all, "s", compare.Throughput)
	if got.N != 20 || math.Abs(got.Share-0.1) > 1e-9 {
		t.Errorf("floor %+v, want 10 %% from 20 rounds: the second largest of them", got)
	}
	for _, none := range []compare.Floor{
		compare.NoiseFloor(all, "another", compare.Throughput),
		compare.NoiseFloor(all, "s", compare.CPUPerTrip),
		compare.NoiseFloor(nil, "s", compare.Throughput),
	} {
		if none != (compare.Floor{}) {
			t.Errorf("floor %+v of nothing", none)
		}
	}
}

// Only the last attempt of a twin counts, and attempts of the two are not mixed
// up.
func TestNoiseFloorTakesLastAttempts(t *testing.T) {
	all := results(
		rec(tcp, b, 1, 1, record.OK, 500), rec(tcp, b, 1, 2, record.OK, 100),
		twinOf(rec(tcp, b, 1, 1, record.OK, 90)), twinOf(rec(tcp, b, 1, 2, record.OK, 102)),
	)
	if got := compare.NoiseFloor(all, "s", compare.Throughput); got.N != 1 || math.Abs(got.Share-0.02) > 1e-9 {
		t.Errorf("floor %+v, want 2 %%", got)
	}
	if got := compare.Rows(all)[0].Repeated; got != 1 {
		t.Errorf("%d attempts were repeated, want 1", got)
	}
}
