package goplugin

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// affinity is the set of CPUs that a thread may use.
type affinity = unix.CPUSet

func currentAffinity() (affinity, error) {
	var set affinity
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return set, fmt.Errorf("read cpu affinity: %w", err)
	}
	return set, nil
}

// execOn starts a job on the current thread, which is back at home afterwards.
func execOn(home affinity, j job) (err error) {
	if len(j.cpus) > 0 {
		if err := pin(home, j.cpus); err != nil {
			return err
		}
		defer func() {
			if e := unix.SchedSetaffinity(0, &home); e != nil {
				err = errors.Join(err, fmt.Errorf("restore cpu affinity: %w", e))
			}
		}()
	}
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	return j.cmd.Start()
}

// pin moves the current thread to cpus. The kernel would quietly drop those
// that the thread may not use; here they are an error.
func pin(home affinity, cpus []int) error {
	var set affinity
	for _, cpu := range cpus {
		if !home.IsSet(cpu) {
			return fmt.Errorf("cpu %d is not among the %d that this process may use", cpu, home.Count())
		}
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("set cpu affinity to %v: %w", cpus, err)
	}
	return nil
}

// awaitEnd returns when cmd has ended, before it is reaped: while the zombie
// keeps the process number, signalling the group cannot hit a stranger.
func awaitEnd(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
