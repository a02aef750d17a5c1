package report_test

import (
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

// offered is a record of an open loop: p99 from the intended time, from the
// sending, and of the slip.
func offered(round int, p99, sent, slip float64, blocked int64) record.Record {
	c := scenario("tcp")
	c.Rate = 2000
	r := measured(c, rawpoll, round, 2000, 20, p99, 2)
	r.Metrics.RTTFrom = record.FromIntended
	r.Metrics.OpenLoop = &record.OpenLoop{OfferedPerSecond: 2000, Blocked: blocked,
		RTTSent: &record.RTT{P50: &sent, P99: &sent}, Slip: &record.RTT{P50: &slip, P99: &slip}}
	return r
}

// An open loop says where its RTT begins and how much of it was waiting.
func TestOpenLoopTellsWaitingApart(t *testing.T) {
	run, _ := madeUp()
	recs := []record.Record{offered(1, 900, 31, 880, 1200), offered(2, 902, 33, 884, 34)}
	recs[1].Validity.Flags = []string{record.FlagStalled}
	results := []compare.Results{{Run: run, Records: recs}}
	pages := report.Markdown(results)
	all := ""
	for _, p := range pages {
		all += string(p.Data)
	}
	for name, got := range map[string]string{"text": strings.Join(strings.Fields(text(t, run, recs, report.Options{})), " "), "pages": all} {
		for _, want := range []string{
			"from the time at which it was to be sent", "901", "stalled in 1 of 2",
			"from the actual sending RTT p50 32.0 µs, p99 32.0 µs; slip p50 882 µs, p99 882 µs; 1,234 messages had to wait for a place in the window",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
	}
}
