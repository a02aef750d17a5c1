package doctor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Subject is all that the checks look at.
type Subject struct {
	Machine    sysinfo.Facts
	Placement  bool // processes can be bound to CPUs here
	Demand     Demand
	Watch      *Watch          // nil: the system does not tell
	Memory     *sysinfo.Memory // likewise
	Files      Files
	ClockNanos float64 // of one clock reading
	Work       Calibration
	Runs       []sysinfo.Process // other drivers and plugins
	Leftovers  []string          // scratch folders of killed drivers
}

// Files are how many files a process may have open; 0: unknown. A Go process
// raises its soft limit to the hard one when it starts.
type Files struct{ Soft, Hard uint64 }

// Look gathers what there is to know about this machine. It watches the CPUs
// for a while, where the system tells what happens on them, and takes no longer
// than that and some ten milliseconds.
func Look(ctx context.Context, machine sysinfo.Facts, d Demand, watch time.Duration) (Subject, error) {
	s := Subject{
		Machine: machine, Placement: sysinfo.Placement, Demand: d,
		ClockNanos: clockCost(), Work: Calibrate(d.Server), Leftovers: goplugin.Leftovers(),
	}
	if m, err := sysinfo.ReadMemory(); err == nil {
		s.Memory = &m
	}
	s.Files = inheritedFiles()
	if list, err := sysinfo.Processes(); err == nil {
		s.Runs = slices.DeleteFunc(list, func(p sysinfo.Process) bool { return !d.ours(p) })
	}
	var err error
	s.Watch, err = watchCPUs(ctx, machine.AllowedCPUs, watch)
	return s, err
}

// inheritedFiles are the limits that this process came to life with, which are
// those of its parent. Its own soft limit is no longer the same.
func inheritedFiles() Files {
	soft, hard, err := sysinfo.OpenFiles(os.Getppid())
	if err != nil {
		soft, hard, _ = sysinfo.OpenFiles(0)
	}
	return Files{soft, hard}
}

// ours reports whether p is another driver or a plugin of the matrix.
func (d Demand) ours(p sysinfo.Process) bool {
	if p.PID == os.Getpid() {
		return false
	}
	return filepath.Base(p.Path) == "netmatrix" || slices.Contains(d.Plugins, p.Path)
}
