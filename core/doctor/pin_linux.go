package doctor

import "golang.org/x/sys/unix"

// pin binds this thread to a CPU. Where that may not be, a figure from any CPU
// is better than none.
func pin(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}
