package blackbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/transport"
)

// pluginRules are about the plugin as a whole.
var pluginRules = []Rule{
	{"Starts", "prints nothing before its handshake, and says what it is and can do", nil, starts},
	{"Refuses", "refuses what it says it lacks, as unsupported", serves, refuses},
}

func starts(e *env) (string, error) {
	if err := e.start(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	d, err := e.process.Describe(ctx)
	if err != nil {
		return "", fmt.Errorf("describe: %w", err)
	}
	if err := makesSense(d); err != nil {
		return "", err
	}
	e.verification.plugin = d
	return fmt.Sprintf("%s, %s: roles %v, protocols %v", d.Info.Name, d.Info.Version, d.Roles, d.Protocols), nil
}

// makesSense finds descriptions that leave nothing to try, or to report.
func makesSense(d control.Description) error {
	for _, role := range d.Roles {
		if !slices.Contains([]string{control.RoleServer, control.RoleLoad, control.RoleBoth}, role) {
			return fmt.Errorf("it claims role %q, which is none of server, load and both", role)
		}
	}
	for _, l := range d.Info.Lacks {
		if l.Why == "" {
			return fmt.Errorf("it lacks %s %s and does not say why: every report shows the reason", l.Axis, l.Value)
		}
	}
	switch {
	case d.Info.Name == "":
		return errors.New("its name is empty")
	case d.Info.Version == "":
		return errors.New("it does not say which version of which library it runs")
	case len(d.Roles) == 0:
		return errors.New("it claims no role: at least \"server\" is needed")
	case len(d.Protocols) == 0:
		return errors.New("it claims no protocol")
	case len(conformance.Variants(d.Info)) == 0:
		return errors.New("what it lacks leaves no execution and IO model to run")
	}
	return nil
}

// refuses asks for each lack in a process of its own.
func refuses(e *env) (string, error) {
	n := 0
	for _, l := range e.lacking() {
		role, c, ok := e.cellWith(l)
		if !ok {
			continue
		}
		if err := e.start(); err != nil {
			return "", err
		}
		n++
		if err := e.refused(role, c); err != nil {
			return "", fmt.Errorf("%s %s: %w", l.Axis, l.Value, err)
		}
	}
	if n == 0 {
		return "it lacks nothing that can be asked for", nil
	}
	return fmt.Sprintf("%d kinds of cells refused", n), nil
}

func (e *env) refused(role string, c cell.Cell) error {
	s := e.setup(role)
	s.Cell, s.Threads, s.IOModel = c, c.Threads, c.IOModel
	s.CA, s.Cert, s.Key = e.certs.CA, e.certs.Cert, e.certs.Key
	s.Busy = c.LoadWait == cell.Busy
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	_, err := e.process.Prepare(ctx, s)
	switch {
	case errors.Is(err, control.ErrUnsupported):
		return nil
	case err == nil:
		return errors.New("it says that it lacks this, and prepared for it without a word")
	}
	return fmt.Errorf("it says that it lacks this, and refused it with an error that is not unsupported: %w", err)
}

// lacking is what the plugin says it lacks, and the protocols of this build that
// it does not claim.
func (e *env) lacking() []transport.Lack {
	list := slices.Clone(e.plugin.Info.Lacks)
	for _, p := range e.cfg.Protocols {
		if !slices.Contains(e.plugin.Protocols, p.Name) && !lacks(e.plugin.Info, "protocol", p.Name) {
			list = append(list, transport.Lack{Axis: "protocol", Value: p.Name})
		}
	}
	return list
}

// cellWith is a cell that the plugin can run but for one lack, and the role in
// which it is asked; ok is false where it cannot be asked.
func (e *env) cellWith(l transport.Lack) (role string, c cell.Cell, ok bool) {
	v := conformance.Variants(e.plugin.Info)[0]
	e.at = Combination{e.plugin.Protocols[0], v}
	c = e.cell()
	c.Protocol = e.at.Protocol
	role = control.RoleServer
	switch l.Axis {
	case "execution":
		c.Execution = l.Value
	case "io_model":
		c.IOModel, c.Threads = l.Value, 2 // × 1 is one case for both
	case "threads":
		n, err := strconv.Atoi(l.Value)
		if err != nil {
			return "", c, false
		}
		c.Threads = n
	case "protocol":
		c.Protocol = l.Value
	case "pattern":
		c.Pattern = l.Value
	case "address_family":
		c.AddressFamily = l.Value
	case "load_wait":
		c.LoadWait, role = l.Value, control.RoleLoad
	default:
		return "", c, false
	}
	return role, c, slices.Contains(e.plugin.Roles, role)
}
