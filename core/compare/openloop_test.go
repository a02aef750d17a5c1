package compare_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// Nobody wins by throughput where all were offered the same.
func TestOpenLoopIsNotRanked(t *testing.T) {
	c := tcp
	c.Rate = 1000
	g := compare.Scenarios(compare.Rows(results(rec(c, a, 1, 1, record.OK, 1000), rec(c, b, 1, 1, record.OK, 999))))[0]
	got := compare.Rank(g)
	if len(got.Rows) != 0 || len(got.Excluded) != 2 || got.Excluded[0].Why != "all were offered the same rate" {
		t.Errorf("ranking %+v", got)
	}
}

// The parts of an RTT are there in an open loop and nowhere else.
func TestOpenLoopMetrics(t *testing.T) {
	sent, slip := 30.0, 5.0
	open := record.Record{Metrics: &record.Metrics{OpenLoop: &record.OpenLoop{RTTSent: &record.RTT{P99: &sent}, Slip: &record.RTT{P99: &slip}}}}
	if got := compare.SentP99.Of(&open); got == nil || *got != sent {
		t.Errorf("%s = %v, want %g", compare.SentP99.Name, got, sent)
	}
	if got := compare.SlipP99.Of(&open); got == nil || *got != slip {
		t.Errorf("%s = %v, want %g", compare.SlipP99.Name, got, slip)
	}
	for name, r := range map[string]record.Record{"failed": {}, "closed loop": {Metrics: &record.Metrics{}}, "no echo": {Metrics: &record.Metrics{OpenLoop: &record.OpenLoop{}}}} {
		for _, m := range []compare.Metric{compare.SentP50, compare.SentP99, compare.SlipP50, compare.SlipP99} {
			if got := m.Of(&r); got != nil {
				t.Errorf("%s: %s = %g, want none", name, m.Name, *got)
			}
		}
	}
}
