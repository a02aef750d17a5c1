package doctor

import "golang.org/x/sys/unix"

// pin binds this thread to a CPU until unpin. Where that may not be, a figure
// from any CPU is better than none.
//
// Note: to let the thread end with its affinity, by leaving its goroutine
// locked, will not do: the first thread of a process never ends, and the CPUs
// of the process are read from it.
func pin(cpu int) (unpin func()) {
	var home, set unix.CPUSet
	if unix.SchedGetaffinity(0, &home) != nil {
		return func() {}
	}
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
	return func() { _ = unix.SchedSetaffinity(0, &home) }
}
