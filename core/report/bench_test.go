package report_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

// big is a run of about 5,000 records, with histograms and slices of the size
// that real ones have.
func big() compare.Results {
	contenders := []cell.Contender{coroutine, rawpoll, rawpollGoroutine, stdnet, netpoll}
	run := newRun("big", "reference", "io_model", contenders...)
	run.Rounds = 10
	var scenarios []cell.Cell
	for _, protocol := range []string{"tcp", "udp", "wss", "https"} {
		for _, payload := range []int{64, 1024, 16384} {
			for _, m := range ioModels {
				for _, traffic := range []int{1, 16} {
					c := scenario(protocol)
					c.Payload, c.Clients, c.Window, c.IOModel, c.Threads = payload, traffic, traffic, m.IOModel, m.Threads
					scenarios = append(scenarios, c)
				}
			}
		}
	}
	plan(run, scenarios[:100], contenders...)
	return compare.Results{Dir: "results/big", Run: run, Records: carryOut(run, func(r *record.Record) {
		r.Metrics.RTTHistogram = make([]byte, 1500)
		r.Metrics.Slices = make([]record.Slice, 20)
		for i := range r.Metrics.Slices {
			r.Metrics.Slices[i] = record.Slice{Start: 250_000_000, End: 300_000_000, RoundTrips: 47_000, ServerCPU: 50_000_000, Served: 47_000, LoadCPU: 50_000_000, Working: 40_000_000}
		}
	})}
}

func BenchmarkLoad(b *testing.B) {
	res := big()
	dir := keep(b, res)
	for b.Loop() {
		recs, err := record.ReadAll(dir)
		if err != nil || len(recs) != len(res.Records) {
			b.Fatal(len(recs), err)
		}
	}
	b.ReportMetric(float64(len(res.Records)), "records/op")
}

func BenchmarkMarkdown(b *testing.B) {
	all := []compare.Results{big()}
	for b.Loop() {
		report.Markdown(all)
	}
	b.ReportMetric(float64(len(all[0].Records)), "records/op")
}
