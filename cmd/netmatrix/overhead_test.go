package main

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
)

// benchmarkTrial runs trials of one contender with a driver in this process and
// hands to f what each took: time, and CPU time of the driver.
func benchmarkTrial(b *testing.B, t driver.Trial, f func(took, cpu time.Duration)) {
	w := newWorkspace(b, anySuite)
	m, err := matrix.Load(filepath.Join(w.dir, "matrix.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	err = withDriver(b.Context(), m, nil, func(d *driver.Driver) error {
		for b.Loop() {
			began, before := time.Now(), ownCPU(b)
			recs, err := d.Run(context.Background(), t)
			if err != nil {
				return err
			}
			f(time.Since(began), ownCPU(b)-before)
			if recs[0].Status != record.OK {
				b.Logf("%s: %s", recs[0].Status, recs[0].Reason)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func benchmarkCell(placement string, measure time.Duration) driver.Trial {
	return driver.Trial{
		Order: 1, Round: 1, Group: "benchmark", Seed: 1, Measure: measure,
		Scenario: cell.Cell{
			IOModel: cell.Shared, Threads: 1, Protocol: "tcp", Payload: 1024, Clients: 16, Window: 16,
			Pattern: cell.Stream, Placement: placement, LoadWait: cell.Busy, AddressFamily: cell.IPv4,
		}.Canonical(),
		Contenders: []cell.Contender{{Runtime: "rawpoll", Execution: cell.Callback}},
	}
}

// BenchmarkTrialOverhead is what a trial takes beyond its slices: starting,
// preparing, inspecting and ending its processes. The median is the figure; the
// aim is at most 100 ms for a split one.
func BenchmarkTrialOverhead(b *testing.B) {
	for _, placement := range cell.Values("placement") {
		b.Run(placement, func(b *testing.B) {
			t := benchmarkCell(placement, 20*time.Millisecond)
			var beyond []time.Duration
			benchmarkTrial(b, t, func(took, _ time.Duration) { beyond = append(beyond, took-t.Measure) })
			slices.Sort(beyond)
			b.ReportMetric(milliseconds(beyond[len(beyond)/2]), "ms/trial-beyond-plan")
			b.ReportMetric(milliseconds(beyond[len(beyond)-1]), "ms/trial-at-most")
		})
	}
}

// BenchmarkDriverCPU is the share of one CPU that the driver itself uses while
// trials of a second run, their beginning and end included.
func BenchmarkDriverCPU(b *testing.B) {
	t := benchmarkCell(cell.Split, time.Second)
	var took, cpu time.Duration
	benchmarkTrial(b, t, func(d, c time.Duration) { took, cpu = took+d, cpu+c })
	b.ReportMetric(100*float64(cpu)/float64(took), "%-of-a-CPU")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ownCPU is the CPU time of this process, without those it has started.
func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
