package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

const cpuSource = "clock_gettime, process CPU clock"

// Placement: processes can be bound to CPUs here.
const Placement = true

// ProcessCPU is the CPU time of a process in nanoseconds, user and system, all
// threads. pid 0 is this process. While threads of another process run, the
// figure may be a scheduler tick old; it is exact while they sleep.
func ProcessCPU(pid int) (int64, error) {
	const clockSched = 2 // CPUCLOCK_SCHED of the whole process, kernel's posix-timers.h
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|clockSched), &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return ts.Nano(), nil
}

// OwnCPU is the CPU time of this process in nanoseconds, all threads.
func OwnCPU() (int64, error) { return ProcessCPU(0) }

// ResetPeakRSS has PeakRSS start again from the present.
func ResetPeakRSS(pid int) error {
	const peak = "5"
	path := fmt.Sprintf("/proc/%d/clear_refs", pid)
	if err := os.WriteFile(path, []byte(peak), 0); err != nil {
		return fmt.Errorf("reset the peak memory of process %d: %w", pid, err)
	}
	return nil
}

// PeakRSS is the most resident memory of a process, in bytes, since its start
// or the last ResetPeakRSS.
func PeakRSS(pid int) (int64, error) {
	status, err := processStatus(pid)
	if err != nil {
		return 0, err
	}
	return int64(status.VmHWM), nil
}

// ProcessUsage reads a process's Usage.
func ProcessUsage(pid int) (Usage, error) {
	status, err := processStatus(pid)
	if err != nil {
		return Usage{}, err
	}
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return Usage{}, fmt.Errorf("threads of process %d: %w", pid, err)
	}
	u := Usage{RSS: int64(status.VmRSS), Threads: len(threads)}
	for _, t := range threads {
		s, err := t.NewStatus()
		if gone(err) {
			u.Threads--
			continue
		}
		if err != nil {
			return Usage{}, fmt.Errorf("status of thread %d of process %d: %w", t.PID, pid, err)
		}
		u.Voluntary += int64(s.VoluntaryCtxtSwitches)
		u.Involuntary += int64(s.NonVoluntaryCtxtSwitches)
	}
	return u, nil
}

// Descriptors is what each open descriptor of a process is, in the kernel's
// words: "socket:[4711]", "pipe:[4712]", a path.
func Descriptors(pid int) ([]string, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	list, err := proc.FileDescriptorTargets()
	if err != nil {
		return nil, fmt.Errorf("descriptors of process %d: %w", pid, err)
	}
	return list, nil
}

// OpenFiles is how many files a process may have open: its soft limit now and
// the hard one up to which it may raise that.
func OpenFiles(pid int) (soft, hard uint64, err error) {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		return 0, 0, fmt.Errorf("open file limit of process %d: %w", pid, err)
	}
	return limit.Cur, limit.Max, nil
}

// AllowedCPUs lists the CPUs that this process may run on, ascending.
func AllowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("CPU affinity of this process: %w", err)
	}
	cpus := make([]int, 0, set.Count())
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func processStatus(pid int) (procfs.ProcStatus, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStatus{}, fmt.Errorf("process %d: %w", pid, err)
	}
	status, err := proc.NewStatus()
	if err != nil {
		return procfs.ProcStatus{}, fmt.Errorf("status of process %d: %w", pid, err)
	}
	return status, nil
}

// gone reports whether err says that a thread ended before it was read.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
