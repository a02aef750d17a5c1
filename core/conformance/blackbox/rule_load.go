package blackbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
)

// loadRules are about plugins that measure.
var loadRules = []Rule{
	{"Load", "as a load counts every message it sends and every answer", hasRole(control.RoleLoad), loadCounts},
	{"WrongByte", "as a load reports an answer with a wrong byte", hasRole(control.RoleLoad), loadSeesWrongByte},
	{"Both", "in role both talks to itself without an error", hasRole(control.RoleBoth), talksToItself},
}

const (
	loadClients = 4
	loadFor     = 100 * time.Millisecond
)

// load has a fresh process dial a server of ours.
func (e *env) load(s *echoServer) error {
	if err := e.start(); err != nil {
		return err
	}
	set := e.setup(control.RoleLoad)
	set.Cell.Clients = loadClients
	if lacks(e.plugin.Info, "load_wait", cell.Sleep) {
		set.Cell.LoadWait, set.Busy = cell.Busy, true
	}
	set.Targets = []control.Target{{Name: "echo", Addrs: []string{s.addr}}}
	return e.ready(set)
}

// ready has the process prepare for a role that dials.
func (e *env) ready(s control.Setup) error {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	if _, err := e.process.Prepare(ctx, s); err != nil {
		return fmt.Errorf("prepare %s in role %s: %w", e.at, s.Role, err)
	}
	return nil
}

// measure follows a plan of one slice and finds results that make no sense.
func (e *env) measure() (t control.Tally, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, loadFor+patience)
	defer cancel()
	r, err := e.process.Measure(ctx, []control.Slice{{Length: int64(loadFor), Counted: true}})
	if err != nil {
		return t, fmt.Errorf("measure: %w", err)
	}
	if len(r.Slices) != 1 || len(r.Targets) != 1 {
		return t, fmt.Errorf("the result of one slice on one target has %d slices and %d targets", len(r.Slices), len(r.Targets))
	}
	s, t := r.Slices[0], r.Targets[0]
	switch {
	case s.RoundTrips == 0:
		return t, fmt.Errorf("no round trip in %v; first errors: %q", loadFor, t.FirstErrors)
	case s.End-s.Start <= 0:
		return t, fmt.Errorf("the slice was counted from %d to %d", s.Start, s.End)
	case s.RoundTrips > t.Counts[control.CountReceived]:
		return t, fmt.Errorf("%d round trips, but %d answers", s.RoundTrips, t.Counts[control.CountReceived])
	}
	return t, nil
}

// faultless finds what a tally against a good server must not have.
func faultless(t control.Tally) error {
	for _, key := range []string{control.CountContent, control.CountOrder, control.CountDuplicate, control.CountDisconnects, control.CountUnfinished} {
		if n := t.Counts[key]; n != 0 {
			return fmt.Errorf("it reports %d %s against a server without fault: %q", n, key, t.FirstErrors)
		}
	}
	return nil
}

func loadCounts(e *env) (string, error) {
	server, err := e.listen()
	if err != nil {
		return "", err
	}
	if err := e.load(server); err != nil {
		return "", err
	}
	before := server.messages() // the checked exchanges of Prepare
	t, err := e.measure()
	if err == nil {
		err = faultless(t)
	}
	if err != nil {
		return "", err
	}
	sent, received, lost := t.Counts[control.CountSent], t.Counts[control.CountReceived], t.Counts[control.CountLost]
	answered := server.messages() - before
	switch {
	case e.protocol.Datagram && (sent < answered || answered < received || sent != received+lost):
		return "", fmt.Errorf("sent %d, received %d, lost %d, but the server answered %d", sent, received, lost, answered)
	case !e.protocol.Datagram && (sent != answered || received != answered):
		return "", fmt.Errorf("sent %d, received %d, but the server answered %d", sent, received, answered)
	}
	return fmt.Sprintf("sent %d, received %d, the server answered %d", sent, received, answered), nil
}

func loadSeesWrongByte(e *env) (string, error) {
	server, err := e.listen()
	if err != nil {
		return "", err
	}
	if err := e.load(server); err != nil {
		return "", err
	}
	server.spoil.Store(true)
	t, err := e.measure()
	if err != nil {
		return "", err
	}
	if server.spoil.Load() {
		return "", errors.New("it sent nothing while it measured")
	}
	if got := t.Counts[control.CountContent]; got != 1 {
		return "", fmt.Errorf("it reports %d answers with wrong content where there was one, all being checked", got)
	}
	return fmt.Sprintf("reported: %q", t.FirstErrors), nil
}

func talksToItself(e *env) (string, error) {
	if err := e.start(); err != nil {
		return "", err
	}
	s := e.setup(control.RoleBoth)
	s.Cell.Clients, s.Cell.Placement = loadClients, cell.Colocated
	if err := e.ready(s); err != nil {
		return "", err
	}
	before, err := e.inspect()
	if err != nil {
		return "", err
	}
	t, err := e.measure()
	if err == nil {
		err = faultless(t)
	}
	if err != nil {
		return "", err
	}
	after, err := e.inspect()
	if err != nil {
		return "", err
	}
	sent, answered := t.Counts[control.CountSent], after.Messages-before.Messages
	if after.Messages >= 0 && answered != sent && !e.protocol.Datagram {
		return "", fmt.Errorf("its load sent %d messages, its server counts %d", sent, answered)
	}
	return fmt.Sprintf("%d messages sent and answered", sent), nil
}
