// Package sysinfo reads facts of processes and of the machine from the
// operating system. It knows where each is written and what an odd value
// means; it must not know what anybody concludes from them.
package sysinfo

// Usage is what a process holds and has done at one moment.
type Usage struct {
	RSS     int64 // resident memory, bytes
	Threads int   // of the operating system
	// Context switches of the threads alive now: a thread that has ended takes
	// its count with it.
	Voluntary, Involuntary int64
}

// CPUSource says in words how ProcessCPU reads another process's clock here;
// empty: it cannot.
func CPUSource() string { return cpuSource }
