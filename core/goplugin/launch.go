package goplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/netmatrix/netmatrix/core/control"
)

// launch is one start of a plugin. To go-plugin it is the runner that does the
// exec; go-plugin writes the handshake's environment and reads its one line.
type launch struct {
	host    *Host
	ctx     context.Context // bounds the start
	command Command
	env     []string // of the handshake
	sockets string   // folder of the control socket

	child   *child // nil: the exec did not come about
	release func() (inTime bool)
	conn    *grpc.ClientConn
}

var _ runner.Runner = (*launch)(nil)

func (l *launch) runner(_ hclog.Logger, spec *exec.Cmd, sockets string) (runner.Runner, error) {
	l.env, l.sockets = spec.Env, sockets
	return l, nil
}

// Start does the exec. From here on the end of ctx kills the process, which
// makes whatever waits for it return.
func (l *launch) Start(context.Context) error {
	c, err := l.host.spawn(l.command, l.env)
	if err != nil {
		return explainExec(l.command.Path, err)
	}
	l.child = c
	l.release = context.AfterFunc(l.ctx, c.kill)
	return nil
}

func (l *launch) Wait(context.Context) error {
	<-l.child.done
	return nil
}

func (l *launch) Kill(context.Context) error {
	l.child.kill()
	return nil
}

func (l *launch) Stdout() io.ReadCloser           { return &l.child.first }
func (l *launch) Stderr() io.ReadCloser           { return io.NopCloser(strings.NewReader("")) } // kept by the child
func (l *launch) Name() string                    { return l.command.Path }
func (l *launch) ID() string                      { return strconv.Itoa(l.child.cmd.Process.Pid) }
func (l *launch) Diagnose(context.Context) string { return "" } // see explain

func (l *launch) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

func (l *launch) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

// explain ends a process that did not become a plugin and says why, from what
// it did rather than from the texts of libraries; cause is what those said.
func (l *launch) explain(cause error) error {
	c, path, late := l.child, l.command.Path, l.ctx.Err()
	c.kill()
	line, stderr := c.first.text, c.tail.quote()
	contract, valid := parseHandshake(line)
	switch {
	case line != "" && !valid:
		return fmt.Errorf("%s printed %q to stdout before the handshake, which has to come first: print to stderr; %s", path, clip(line), stderr)
	case valid && contract != strconv.Itoa(control.ContractVersion):
		return fmt.Errorf("%s speaks contract %s, this driver speaks %d: rebuild the plugin", path, contract, control.ContractVersion)
	case !c.endedByUs():
		return fmt.Errorf("%w: %s %s before it was ready; %s", control.ErrPluginGone, path, c.ending(), stderr)
	case late != nil && valid:
		return fmt.Errorf("%s announced itself but did not answer: %w; %s", path, late, stderr)
	case late != nil:
		return fmt.Errorf("%s was not ready in time: %w; %s", path, late, stderr)
	case line == "":
		return fmt.Errorf("%s closed its stdout without a handshake; %s", path, stderr)
	}
	return fmt.Errorf("%s does not answer as a plugin: %w; %s", path, cause, stderr)
}

// explainExec adds what to do about a process that could not be started at all.
func explainExec(path string, err error) error {
	var hint string
	_, missing := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && missing != nil:
		hint = "build it, or correct the path"
	case errors.Is(err, fs.ErrNotExist):
		hint = "the file is there, but the interpreter or loader it names is not"
	case errors.Is(err, fs.ErrPermission):
		hint = "it has to be a file with execute permission"
	case errors.Is(err, syscall.ENOEXEC):
		hint = "it is not an executable of this system and architecture"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, hint)
}

// parseHandshake takes the contract's version from go-plugin's line
// "1|CONTRACT|NETWORK|ADDRESS|grpc|"; valid is false for any other text.
func parseHandshake(line string) (contract string, valid bool) {
	fields := strings.Split(line, "|")
	if len(fields) < 4 {
		return "", false
	}
	for _, number := range fields[:2] {
		if _, err := strconv.Atoi(number); err != nil {
			return "", false
		}
	}
	return fields[1], true
}

// clip shortens a stray line for an error.
func clip(s string) string {
	const most = 200 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
