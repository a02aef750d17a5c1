package goplugin

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netmatrix/netmatrix/core/control"
)

// drainWait bounds how long the output of a process that has ended is still
// read: a descendant that left its process group may hold the pipes open.
const drainWait = 500 * time.Millisecond

// child is a plugin process as the operating system sees it: a process group,
// a lifeline and two pipes to read.
type child struct {
	name     string
	cmd      *exec.Cmd
	lifeline *os.File // the plugin's standard input; closed: exit
	stdout   *os.File
	stderr   *os.File
	first    firstLine
	tail     tail
	done     chan struct{} // closed when reaped and its output read

	mu     sync.Mutex
	killed bool      // by us; read after done
	reaped bool      // the process number may belong to another now
	conn   io.Closer // closed when the process has ended
}

// newChild prepares a process, whose whole environment is env, and its pipes.
// theirs are the ends that only the process is to keep.
func newChild(c Command, env []string) (ch *child, theirs []*os.File, err error) {
	var pipes []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes)
			return nil, nil, fmt.Errorf("make pipes: %w", err)
		}
		pipes = append(pipes, r, w)
	}
	stdin, stdout, stderr := pipes[0], pipes[3], pipes[5]
	ch = &child{
		name:     c.Name,
		cmd:      &exec.Cmd{Path: c.Path, Args: []string{c.Path}, Env: env, Stdin: stdin, Stdout: stdout, Stderr: stderr},
		lifeline: pipes[1],
		stdout:   pipes[2],
		stderr:   pipes[4],
		first:    firstLine{ready: make(chan struct{})},
		done:     make(chan struct{}),
	}
	return ch, []*os.File{stdin, stdout, stderr}, nil
}

// spawn starts the process; ended is called when it is over.
func spawn(s *starter, c Command, env []string, ended func(*child)) (*child, error) {
	ch, theirs, err := newChild(c, env)
	if err != nil {
		return nil, err
	}
	err = s.start(ch.cmd, c.CPUs)
	closeAll(theirs)
	if err != nil {
		if ch.cmd.Process != nil { // it runs, but not as asked
			_ = ch.cmd.Process.Kill()
			_ = ch.cmd.Wait()
		}
		closeAll([]*os.File{ch.lifeline, ch.stdout, ch.stderr})
		return nil, err
	}
	go ch.reap(ended)
	return ch, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// reap reads the output until the process has ended, then leaves nothing of it.
func (c *child) reap(ended func(*child)) {
	var output sync.WaitGroup
	output.Go(func() { _, _ = io.Copy(&c.tail, c.stderr) })
	output.Go(func() { c.first.take(c.stdout, &c.tail) })
	awaitEnd(c.cmd)
	c.mu.Lock()
	_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL) // its descendants
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Wait()
	}
	c.reaped = true
	conn := c.conn
	c.mu.Unlock()

	until := time.Now().Add(drainWait)
	_ = c.stdout.SetReadDeadline(until)
	_ = c.stderr.SetReadDeadline(until)
	output.Wait()
	closeAll([]*os.File{c.lifeline, c.stdout, c.stderr})
	if conn != nil {
		_ = conn.Close()
	}
	ended(c)
	close(c.done)
}

// attach has conn closed when the process ends, or now if it has ended.
func (c *child) attach(conn io.Closer) {
	c.mu.Lock()
	ended := c.reaped
	c.conn = conn
	c.mu.Unlock()
	if ended {
		_ = conn.Close()
	}
}

// kill ends the process group and waits until the process has been reaped.
func (c *child) kill() {
	c.signal()
	<-c.done
}

func (c *child) signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		c.killed = true
		_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	}
}

// endedByUs reports whether the process died of our kill; call it after done.
// One that was on its way out when the signal came keeps its own status.
func (c *child) endedByUs() bool {
	ws := c.status()
	return c.killed && ws.Signaled() && ws.Signal() == unix.SIGKILL
}

// ending says how the process ended, in words that follow its name; call it
// after done.
func (c *child) ending() string {
	ws := c.status()
	switch {
	case c.endedByUs():
		return "was killed by the driver"
	case ws.Signaled():
		return fmt.Sprintf("was killed by signal %d (%s)", int(ws.Signal()), ws.Signal())
	}
	return fmt.Sprintf("exited with status %d", ws.ExitStatus())
}

func (c *child) status() syscall.WaitStatus {
	ws, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ws
}

// gone is the error of a call to a process that has ended; call it after done.
func (c *child) gone() error {
	err := fmt.Errorf("%w: %s %s", control.ErrPluginGone, c.name, c.ending())
	if line := c.tail.panicLine(); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}
