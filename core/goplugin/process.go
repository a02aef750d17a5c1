package goplugin

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

// startLimit bounds a start whose context sets no earlier deadline.
const startLimit = time.Minute

// Command is a plugin process to start.
type Command struct {
	Name       string // of the plugin, for errors
	Path       string // of the executable
	CPUs       []int  // to run on, Linux only; empty: any
	GOMAXPROCS int    // of the process; 0: Go's default
}

// Process is a running plugin. Each call observes its context's deadline and
// fails with control.ErrPluginGone as soon as the process has ended.
type Process struct {
	control.Plugin
	child *child
}

// Start starts a plugin and returns once it answers. ctx bounds the start, not
// the life of the process; a minute is the limit in any case.
func (h *Host) Start(ctx context.Context, c Command) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	l := &launch{host: h, ctx: ctx, command: c}
	p, err := l.run()
	if l.sockets != "" {
		_ = os.RemoveAll(l.sockets) // once connected, nobody else is to connect
	}
	if err != nil {
		return nil, fmt.Errorf("start plugin %s: %w", c.Name, err)
	}
	return p, nil
}

// PID is the process number; it may belong to another once Done is closed.
func (p *Process) PID() int { return p.child.cmd.Process.Pid }

// Done is closed when the process has been reaped.
func (p *Process) Done() <-chan struct{} { return p.child.done }

// Err is nil while the process lives; once Done is closed, it is a
// control.ErrPluginGone that says how the process ended.
func (p *Process) Err() error {
	select {
	case <-p.child.done:
		return p.child.gone()
	default:
		return nil
	}
}

// Stderr is the last 64 KiB that the plugin wrote, also after its death.
func (p *Process) Stderr() string { return p.child.tail.String() }

// CutLifeline does to the plugin what the death of the driver does to it: its
// standard input ends. A plugin that keeps the contract exits at once.
func (p *Process) CutLifeline() { _ = p.child.lifeline.Close() }

// Kill ends the process and all it has started, and waits until it has been
// reaped. Killing twice, or a process that has ended, does nothing.
func (p *Process) Kill() { p.child.kill() }
