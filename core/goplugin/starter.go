package goplugin

import (
	"os/exec"
	"runtime"
)

// starter executes commands from one goroutine that stays locked to its thread
// for the life of the host. Two properties hang on the thread: CPU affinity,
// which a process inherits from the thread that starts it, and on Linux the
// parent-death signal, which fires when that very thread ends, not its process.
// The lock also keeps the Go runtime from cloning the affinity into new threads
// of the driver.
type starter struct {
	jobs chan job
}

type job struct {
	cmd  *exec.Cmd
	cpus []int
	done chan error
}

// newStarter returns once the thread is set up.
func newStarter() (*starter, error) {
	s := &starter{jobs: make(chan job)}
	ready := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine and takes its
		// affinity, and any process still alive, with it.
		runtime.LockOSThread()
		home, err := currentAffinity()
		ready <- err
		for j := range s.jobs {
			j.done <- execOn(home, j)
		}
	}()
	if err := <-ready; err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// start executes cmd on cpus (empty: any that the driver may use).
func (s *starter) start(cmd *exec.Cmd, cpus []int) error {
	j := job{cmd, cpus, make(chan error)}
	s.jobs <- j
	return <-j.done
}

func (s *starter) stop() { close(s.jobs) }
