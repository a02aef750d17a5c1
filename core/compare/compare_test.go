package compare_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

func TestSpreadOf(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   compare.Spread
	}{
		{nil, compare.Spread{}},
		{[]float64{7}, compare.Spread{Median: 7, Min: 7, Max: 7, N: 1}},
		{[]float64{3, 1, 2}, compare.Spread{Median: 2, Min: 1, Max: 3, N: 3}},
		{[]float64{4, 1, 3, 2}, compare.Spread{Median: 2.5, Min: 1, Max: 4, N: 4}},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, compare.Spread{Median: math.MaxFloat64, Min: math.MaxFloat64, Max: math.MaxFloat64, N: 2}},
	} {
		if got := compare.SpreadOf(tt.values); got != tt.want {
			t.Errorf("SpreadOf(%v) = %+v, want %+v", tt.values, got, tt.want)
		}
	}
	values := []float64{3, 1, 2}
	if compare.SpreadOf(values); values[0] != 3 {
		t.Error("SpreadOf sorts the caller's values")
	}
}

func TestSeparate(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b []float64
		want bool
	}{
		{"identical repeats beside a higher group", []float64{78.8, 78.8, 78.8, 78.8, 78.8}, []float64{115, 114, 115, 115, 115}, true},
		{"touching", []float64{1, 2}, []float64{2, 3}, false},
		{"one inside the other", []float64{1, 9}, []float64{4, 5}, false},
		{"one trial has no range", []float64{1}, []float64{5, 6}, false},
		{"nothing", nil, []float64{5, 6}, false},
	} {
		a, b := compare.SpreadOf(tt.a), compare.SpreadOf(tt.b)
		if got := a.Separate(b); got != tt.want {
			t.Errorf("%s: Separate = %t, want %t", tt.name, got, tt.want)
		}
		if a.Separate(b) != b.Separate(a) {
			t.Errorf("%s: Separate depends on the order", tt.name)
		}
	}
}

var (
	tcp = cell.Cell{Protocol: "tcp", Payload: 64, Clients: 1, Window: 1}
	udp = cell.Cell{Protocol: "udp", Payload: 64, Clients: 1, Window: 1}
	a   = cell.Contender{Runtime: "a", Execution: cell.Callback}
	b   = cell.Contender{Runtime: "b", Execution: cell.Goroutine}
)

func rec(c cell.Cell, k cell.Contender, round, attempt int, status string, rate float64) record.Record {
	return record.Record{RunID: "r", Group: fmt.Sprint(c.Protocol, round), Round: round, Attempt: attempt, Status: status, Cell: c.With(k),
		Metrics: &record.Metrics{RoundTripsPerSecond: rate}}
}

// results is a run with no schedule around records.
func results(recs ...record.Record) []compare.Results {
	return []compare.Results{{Dir: "results/r", Run: &record.Run{RunID: "r", Suite: "s"}, Records: recs}}
}

func TestScenarios(t *testing.T) {
	run := &record.Run{Baseline: b, Schedule: []record.Trial{
		{Round: 1, Group: "udp1", Scenario: udp, Contenders: []cell.Contender{a, b}},
		{Round: 1, Group: "tcp1", Scenario: tcp, Contenders: []cell.Contender{a, b}},
	}}
	got := compare.Scenarios(compare.Rows([]compare.Results{{Run: run, Records: []record.Record{rec(udp, a, 1, 1, record.OK, 5)}}}))
	if len(got) != 2 || got[0].Cell != tcp || got[1].Cell != udp {
		t.Fatalf("scenarios %+v, want tcp, then udp", got)
	}
	for _, s := range got {
		if len(s.Rows) != 2 || s.Rows[0].Contender() != b || s.Rows[1].Contender() != a {
			t.Errorf("rows of %s are %+v, want the baseline b, then a", s.Cell.Protocol, s.Rows)
		}
		for _, r := range s.Rows {
			if r.Planned != 1 {
				t.Errorf("%s of %s: %d planned, want 1", r.Contender(), s.Cell.Protocol, r.Planned)
			}
		}
	}
	if n := len(got[0].Rows[1].Records); n != 0 {
		t.Errorf("what was not run has %d records", n)
	}
	if n := len(got[1].Rows[1].Records); n != 1 {
		t.Errorf("what was run has %d records, want 1", n)
	}
}

func TestLastAttemptCounts(t *testing.T) {
	got := compare.Rows(results(
		rec(tcp, a, 1, 1, record.Invalid, 1),
		rec(tcp, a, 2, 1, record.OK, 20),
		rec(tcp, a, 1, 2, record.OK, 10),
	))[0]
	if len(got.Records) != 2 || got.Count(record.Invalid) != 0 || got.Count(record.OK) != 2 {
		t.Errorf("records %+v, want the second attempt instead of the first", got.Records)
	}
}

func TestSeriesTakesGoodTrialsOnly(t *testing.T) {
	row := compare.Rows(results(
		rec(tcp, a, 1, 1, record.OK, 10),
		rec(tcp, a, 2, 1, record.Invalid, 999),
		record.Record{RunID: "r", Group: "tcp3", Round: 3, Status: record.Failed, Cell: tcp.With(a)},
	))[0]
	if got, want := row.Series(compare.Throughput).Spread(), (compare.Spread{Median: 10, Min: 10, Max: 10, N: 1}); got != want {
		t.Errorf("spread %+v, want %+v", got, want)
	}
	for _, m := range []compare.Metric{compare.P50, compare.P95, compare.P99, compare.P999, compare.CPU, compare.CPUPerTrip, compare.PeakRSS} {
		if s := row.Series(m); len(s) != 0 {
			t.Errorf("%s = %v though it was not measured", m.Name, s)
		}
	}
}

func TestRatiosPairByRound(t *testing.T) {
	rows := compare.Rows(results(
		rec(tcp, a, 1, 1, record.OK, 10), rec(tcp, b, 1, 1, record.OK, 5),
		rec(tcp, a, 2, 1, record.OK, 90), rec(tcp, b, 2, 1, record.OK, 30),
		rec(tcp, a, 3, 1, record.OK, 77),                                  // b has no round 3
		rec(tcp, a, 4, 1, record.OK, 77), rec(tcp, b, 4, 1, record.OK, 0), // nothing to divide by
	))
	got := rows[0].Series(compare.Throughput).Ratios(rows[1].Series(compare.Throughput)).Spread()
	if want := (compare.Spread{Median: 2.5, Min: 2, Max: 3, N: 2}); got != want {
		t.Errorf("ratios %+v, want %+v", got, want)
	}
}

func TestMetricsComeFromTheirFields(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	rss := int64(6)
	cost := &record.Process{CPUPercent: p(4), CPUMicrosPerTrip: p(5), PeakRSSBytes: &rss}
	split := record.Record{Metrics: &record.Metrics{RoundTripsPerSecond: 1, PayloadMiBPerSecond: 2,
		RTT: &record.RTT{P50: p(50), P95: p(95), P99: p(99), P999: p(99.9)}}, Server: cost, Load: &record.Process{CPUPercent: p(77)}}
	colocated := split
	colocated.Server, colocated.Load, colocated.Process = nil, nil, cost
	for _, r := range []record.Record{split, colocated} {
		for _, tt := range []struct {
			metric compare.Metric
			want   float64
		}{
			{compare.Throughput, 1}, {compare.Payload, 2}, {compare.P50, 50}, {compare.P95, 95}, {compare.P99, 99}, {compare.P999, 99.9},
			{compare.CPU, 4}, {compare.CPUPerTrip, 5}, {compare.PeakRSS, 6},
		} {
			if got := tt.metric.Of(&r); got == nil || *got != tt.want {
				t.Errorf("%s = %v, want %g", tt.metric.Name, got, tt.want)
			}
		}
	}
}

func TestFlagged(t *testing.T) {
	bad := rec(tcp, a, 1, 1, record.Failed, 0)
	bad.Validity.Flags = []string{record.FlagLoadBound}
	row := compare.Row{Records: []record.Record{bad, rec(tcp, a, 2, 1, record.OK, 1)}}
	if row.Flagged(record.FlagLoadBound) {
		t.Error("a failed trial's flag marks the row")
	}
	row.Records[1].Validity.Flags = []string{record.FlagLoadBound}
	if !row.Flagged(record.FlagLoadBound) {
		t.Error("a good trial's flag does not mark the row")
	}
}
