package goplugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/netmatrix/netmatrix/core/control"
)

// explain ends a process that did not become a plugin and says why, from what
// it did rather than from the texts of libraries; cause is what those said.
func (l *launch) explain(cause error) error {
	c, path, late := l.child, l.command.Path, l.ctx.Err()
	c.kill()
	if err := l.host.usable(); err != nil {
		return err // it was Close that ended the process
	}
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

// clip shortens a stray line for an error.
func clip(s string) string {
	const most = 200 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
