//go:build !linux

package goplugin

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// affinity is nothing here: these systems do not let a process choose its CPUs,
// or not through one interface.
type affinity struct{}

func currentAffinity() (affinity, error) { return affinity{}, nil }

// execOn starts a job. There is no parent-death signal here: the lifeline pipe
// alone ends a plugin whose driver was killed.
func execOn(_ affinity, j job) error {
	if len(j.cpus) > 0 {
		return errors.New("cpu placement is not possible on " + runtime.GOOS + ": set cpus to none")
	}
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return j.cmd.Start()
}

// awaitEnd returns when cmd has ended; it has been reaped then, as there is no
// portable way to wait without.
func awaitEnd(cmd *exec.Cmd) { _ = cmd.Wait() }
