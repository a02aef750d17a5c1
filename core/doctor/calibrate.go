package doctor

import (
	"runtime"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/message"
)

// Calibration is what 10,000 operations of work take on one CPU, in
// microseconds.
type Calibration struct {
	Micros float64 `json:"us_per_10000"`      // median of the runs
	Low    float64 `json:"us_lower_quartile"` // of the runs
	High   float64 `json:"us_upper_quartile"`
	Runs   int     `json:"runs"`
}

const (
	calibratedWork = 10_000
	calibratedRuns = 300
	// calibrationWarmup is for a CPU that idled to reach its frequency.
	calibrationWarmup = 10 * time.Millisecond
)

// Calibrate measures the work on the first of cpus, on any CPU if there is
// none or it may not be used. It takes some 15 ms.
func Calibrate(cpus []int) Calibration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(cpus) > 0 {
		defer pin(cpus[0])()
	}
	return calibrate()
}

func calibrate() Calibration {
	w := message.NewWork(calibratedWork)
	var sum uint32
	for begun := time.Now(); time.Since(begun) < calibrationWarmup; {
		sum += w.Do(0, sum)
	}
	took := make([]float64, calibratedRuns)
	for i := range took {
		begun := time.Now()
		sum += w.Do(0, sum)
		took[i] = float64(time.Since(begun)) / float64(time.Microsecond)
	}
	runtime.KeepAlive(sum)
	slices.Sort(took)
	return Calibration{
		Micros: took[calibratedRuns/2],
		Low:    took[calibratedRuns/4],
		High:   took[calibratedRuns*3/4],
		Runs:   calibratedRuns,
	}
}

// clockCost is what one reading of the monotonic clock takes, nanoseconds: the
// median of some batches.
func clockCost() float64 {
	const batches, readings = 21, 1000
	start := time.Now()
	costs := make([]time.Duration, batches)
	var last time.Duration
	for i := range costs {
		begun := time.Since(start)
		for range readings {
			last = time.Since(start)
		}
		costs[i] = last - begun
	}
	runtime.KeepAlive(last)
	slices.Sort(costs)
	return float64(costs[batches/2]) / readings
}
