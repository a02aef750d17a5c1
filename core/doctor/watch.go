package doctor

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Watch is what was seen on the CPUs over a while.
type Watch struct {
	For     time.Duration
	Steal   float64 // share of the CPUs that the hypervisor took, 0 to 1
	Others  float64 // share of the CPUs that other processes used
	Busiest []Use   // the processes that used most, downwards
}

// Use is the share of one CPU that a process used.
type Use struct {
	sysinfo.Process
	Share float64
}

// leastShare of one CPU is worth a name.
const leastShare = 0.01

// reading is what all CPUs and all processes have done so far.
type reading struct {
	at        time.Time
	cpus      sysinfo.Activity
	own       int64 // CPU time of this process, nanoseconds
	processes []sysinfo.Process
}

func read(cpus []int) (r reading, err error) {
	r.at = time.Now()
	if r.cpus, err = sysinfo.ReadActivity(cpus); err != nil {
		return r, err
	}
	if r.own, err = sysinfo.OwnCPU(); err != nil {
		return r, err
	}
	r.processes, err = sysinfo.Processes()
	return r, err
}

// watchCPUs compares two readings. It gives nil for no time and where the
// system does not tell; the error is the context's.
func watchCPUs(ctx context.Context, cpus []int, d time.Duration) (*Watch, error) {
	if d <= 0 || len(cpus) == 0 {
		return nil, nil
	}
	before, err := read(cpus)
	if err != nil {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(d):
	}
	after, err := read(cpus)
	if err != nil {
		return nil, nil
	}
	return between(before, after, len(cpus)), nil
}

// between is what happened on a number of CPUs from one reading to the next.
func between(before, after reading, cpus int) *Watch {
	took := after.at.Sub(before.at)
	share := func(d time.Duration) float64 { return max(0, float64(d)/float64(took)) }
	did := after.cpus.Since(before.cpus)
	w := &Watch{
		For:    took,
		Steal:  share(did.Steal) / float64(cpus),
		Others: share(did.Busy-time.Duration(after.own-before.own)) / float64(cpus),
	}
	used := make(map[int]time.Duration)
	for _, p := range before.processes {
		used[p.PID] = p.CPU
	}
	for _, p := range after.processes {
		u := Use{p, share(p.CPU - used[p.PID])}
		if p.PID != os.Getpid() && u.Share >= leastShare {
			w.Busiest = append(w.Busiest, u)
		}
	}
	slices.SortFunc(w.Busiest, func(a, b Use) int { return cmp.Or(cmp.Compare(b.Share, a.Share), a.PID-b.PID) })
	w.Busiest = w.Busiest[:min(3, len(w.Busiest))]
	return w
}
