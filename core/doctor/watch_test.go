package doctor

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/sysinfo"
)

func TestBetween(t *testing.T) {
	const second = time.Second
	process := func(pid int, cpu time.Duration) sysinfo.Process { return sysinfo.Process{PID: pid, CPU: cpu} }
	before := reading{
		at: time.Unix(100, 0), cpus: sysinfo.Activity{Busy: 50 * second, Steal: second}, own: int64(second),
		processes: []sysinfo.Process{process(1, 10*second), process(2, second), process(3, 0), process(9, 5*second)},
	}
	after := reading{
		at: time.Unix(110, 0), cpus: sysinfo.Activity{Busy: 59 * second, Steal: 3 * second}, own: int64(2 * second),
		processes: []sysinfo.Process{
			process(1, 10*second+second/20), // too little to be named
			process(2, 3*second),
			process(3, 0),
			process(4, second),   // new
			process(5, 3*second), // likewise
			process(6, second),
			process(9, second), // another one that got the number
			process(os.Getpid(), 8*second),
		},
	}
	w := between(before, after, 2)
	if w.For != 10*second || math.Abs(w.Steal-0.1) > 1e-9 || math.Abs(w.Others-0.4) > 1e-9 {
		t.Errorf("%+v, want steal 0.1 and others 0.4 of the CPUs in 10 s", *w)
	}
	var pids []int
	for _, u := range w.Busiest {
		pids = append(pids, u.PID)
	}
	if len(pids) != 3 || pids[0] != 5 || pids[1] != 2 || pids[2] != 4 || math.Abs(w.Busiest[0].Share-0.3) > 1e-9 {
		t.Errorf("busiest %+v, want processes 5 with 0.3 of a CPU, 2 and 4", w.Busiest)
	}
}

func TestWatchIsCalledOff(t *testing.T) {
	cpus, err := sysinfo.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(cpus); err != nil {
		t.Skipf("the system does not tell: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := watchCPUs(ctx, cpus, time.Hour); w != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v, want the context's error", w, err)
	}
}

func TestNothingToWatch(t *testing.T) {
	for _, tt := range []struct {
		cpus []int
		d    time.Duration
	}{{nil, time.Hour}, {[]int{0}, 0}, {[]int{1 << 20}, time.Hour}} {
		if w, err := watchCPUs(t.Context(), tt.cpus, tt.d); w != nil || err != nil {
			t.Errorf("CPUs %v for %v: %+v, %v, want nothing", tt.cpus, tt.d, w, err)
		}
	}
}
