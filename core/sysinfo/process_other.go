//go:build !linux

package sysinfo

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const cpuSource = ""

// Placement: processes can be bound to CPUs here.
const Placement = false

// ProcessCPU is the CPU time of another process. Only this process's is to be
// had here; any other is errors.ErrUnsupported.
func ProcessCPU(pid int) (int64, error) {
	if pid == 0 || pid == os.Getpid() {
		return OwnCPU()
	}
	return 0, unsupported("CPU clock", pid)
}

// OwnCPU is the CPU time of this process in nanoseconds, all threads.
func OwnCPU() (int64, error) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0, fmt.Errorf("resource usage of this process: %w", err)
	}
	return ru.Utime.Nano() + ru.Stime.Nano(), nil
}

// ResetPeakRSS is errors.ErrUnsupported here.
func ResetPeakRSS(pid int) error { return unsupported("peak memory reset", pid) }

// PeakRSS is errors.ErrUnsupported here.
func PeakRSS(pid int) (int64, error) { return 0, unsupported("peak memory", pid) }

// ProcessUsage is errors.ErrUnsupported here.
func ProcessUsage(pid int) (Usage, error) { return Usage{}, unsupported("usage", pid) }

// Descriptors is errors.ErrUnsupported here.
func Descriptors(pid int) ([]string, error) { return nil, unsupported("descriptors", pid) }

// OpenFiles is how many files this process may have open: its soft limit now
// and the hard one. For another process it is errors.ErrUnsupported.
func OpenFiles(pid int) (soft, hard uint64, err error) {
	if pid != 0 && pid != os.Getpid() {
		return 0, 0, unsupported("open file limit", pid)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, 0, fmt.Errorf("open file limit of this process: %w", err)
	}
	return uint64(limit.Cur), uint64(limit.Max), nil
}

// AllowedCPUs lists all CPUs: processes are not bound to some here.
func AllowedCPUs() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

// unsupported is the error of a fact of one process that this operating system
// does not give. It wraps errors.ErrUnsupported.
func unsupported(what string, pid int) error {
	return unknown(fmt.Sprintf("%s of process %d", what, pid))
}
