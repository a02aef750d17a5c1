package driver

import (
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// placement is where the processes of a trial run and with how many threads.
type placement struct {
	server, load []int // CPU sets; empty: any
	loadThreads  int
	loadIOModel  string
}

// allowedCPUs are the CPUs this process may use; nil where the system does not
// tell. Lists that name others are refused.
func allowedCPUs(c matrix.CPUs) ([]int, error) {
	allowed, err := sysinfo.AllowedCPUs()
	if err != nil {
		return nil, nil // no placement on this system: every process runs anywhere
	}
	for _, n := range slices.Concat(c.Server, c.Load) {
		if !slices.Contains(allowed, n) {
			return nil, configErrorf("cpus: CPU %d is not one of those this process may use, %v", n, allowed)
		}
	}
	return allowed, nil
}

// place decides on the CPU sets of a trial: those of the matrix, but that both
// ends of a colocated cell share all CPUs in mode auto. Where processes cannot
// be bound, auto is none.
func (d *Driver) place(c cell.Cell) placement {
	var p placement
	if d.cpus.Mode == matrix.CPUsList || sysinfo.Placement {
		p.server, p.load = d.cpus.Sets(d.allowed)
	}
	if c.Placement == cell.Colocated && d.cpus.Mode != matrix.CPUsList && p.server != nil {
		p.server = d.allowed
	}
	p.loadThreads = d.load.Threads
	if p.loadThreads == 0 {
		p.loadThreads = max(1, len(p.load))
	}
	p.loadThreads = min(p.loadThreads, c.Clients)
	p.loadIOModel = cell.Shared
	if p.loadThreads > 1 {
		p.loadIOModel = cell.Sharded
	}
	if c.Placement == cell.Colocated {
		p.load, p.loadThreads = nil, 0
	}
	return p
}

// serverCPUs is how many CPUs the server, or both ends if colocated, can use at
// most; 0: unknown.
func (d *Driver) serverCPUs(p placement) int {
	if len(p.server) > 0 {
		return len(p.server)
	}
	return len(d.allowed)
}
