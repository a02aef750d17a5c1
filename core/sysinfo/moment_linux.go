package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// procMount is where the kernel shows its figures.
const procMount = "/proc"

// ReadActivity adds up what cpus have done since the machine started, to 10 ms
// for each.
func ReadActivity(cpus []int) (Activity, error) { return readActivity(procMount, cpus) }

func readActivity(mount string, cpus []int) (Activity, error) {
	stat, err := procStat(mount)
	if err != nil {
		return Activity{}, fmt.Errorf("activity of the CPUs: %w", err)
	}
	var a Activity
	for _, cpu := range cpus {
		s, ok := stat.CPU[int64(cpu)]
		if !ok {
			return Activity{}, fmt.Errorf("activity of the CPUs: %s/stat has no CPU %d", mount, cpu)
		}
		a.Busy += seconds(s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ) // User holds Guest
		a.Interrupts += seconds(s.IRQ + s.SoftIRQ)
		a.Idle += seconds(s.Idle + s.Iowait)
		a.Steal += seconds(s.Steal)
	}
	return a, nil
}

func procStat(mount string) (procfs.Stat, error) {
	proc, err := procfs.NewFS(mount)
	if err != nil {
		return procfs.Stat{}, err
	}
	return proc.Stat()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// ReadMemory reads what is left of memory now.
func ReadMemory() (Memory, error) { return readMemory(procMount) }

func readMemory(mount string) (Memory, error) {
	proc, err := procfs.NewFS(mount)
	if err != nil {
		return Memory{}, fmt.Errorf("memory: %w", err)
	}
	info, err := proc.Meminfo()
	if err != nil {
		return Memory{}, fmt.Errorf("memory: %w", err)
	}
	if info.MemAvailableBytes == nil {
		return Memory{}, fmt.Errorf("memory: %s/meminfo does not say what is available", mount)
	}
	m := Memory{Available: int64(*info.MemAvailableBytes)}
	if info.SwapTotalBytes != nil && info.SwapFreeBytes != nil {
		m.SwapUsed = int64(*info.SwapTotalBytes) - int64(*info.SwapFreeBytes)
	}
	return m, nil
}

// Processes lists the processes that can be seen, in no order. Those that end
// meanwhile are left out.
func Processes() ([]Process, error) { return processes(procMount) }

func processes(mount string) ([]Process, error) {
	proc, err := procfs.NewFS(mount)
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	all, err := proc.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	list := make([]Process, 0, len(all))
	for _, p := range all {
		stat, err := p.Stat()
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", p.PID, err)
		}
		path, err := p.Executable()
		if err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("executable of process %d: %w", p.PID, err)
		}
		list = append(list, Process{
			PID: p.PID, Parent: stat.PPID, Name: stat.Comm,
			Path: strings.TrimSuffix(path, " (deleted)"), // it was rebuilt while it runs
			CPU:  seconds(stat.CPUTime()),
		})
	}
	return list, nil
}
