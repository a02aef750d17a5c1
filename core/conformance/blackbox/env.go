package blackbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/transport"
)

const (
	// patience is how long a peer waits for an answer that is due.
	patience = 5 * time.Second
	// seed is that of bodies and of cuts: a failure repeats.
	seed = 0x6e6d
	// plainPayload is that of rules that are not about sizes, in bytes.
	plainPayload = 1024
	// plainWindow is the most that a peer has in flight, in messages, and
	// plainClients the most peers there are, where a rule is not about that.
	plainWindow, plainClients = 16, 16
)

// env is what a rule works with: a plugin process in one combination and peers
// to try it with. All of it ends with the rule.
type env struct {
	*verification
	at       Combination
	protocol protocol.Protocol
	ctx      context.Context // ends with the rule's time

	process *goplugin.Process // nil: not started
	addrs   []string          // where it listens
	bodies  *message.Bodies   // of the messages it was told to expect
	work    message.Work      // that it was told to do

	mu     sync.Mutex
	opened []io.Closer // peers and listeners of ours
}

func lacks(info transport.Info, axis, value string) bool {
	return slices.ContainsFunc(info.Lacks, func(l transport.Lack) bool { return l.Axis == axis && l.Value == value })
}

// hasRole is a condition of rules.
func hasRole(role string) func(*env) bool {
	return func(e *env) bool { return slices.Contains(e.plugin.Roles, role) }
}

// serves and streams are conditions of rules about servers.
func serves(e *env) bool { return slices.Contains(e.plugin.Roles, control.RoleServer) }

func streams(e *env) bool { return serves(e) && !e.protocol.Datagram }

// scale is full, or in a quick run a part of it.
func (e *env) scale(full, quick int) int {
	if e.cfg.Quick {
		return quick
	}
	return full
}

// start starts a fresh process.
func (e *env) start() error {
	if e.process != nil {
		e.process.Kill()
	}
	var err error
	e.process, err = e.host.Start(e.ctx, goplugin.Command{Name: filepath.Base(e.path), Path: e.path, GOMAXPROCS: max(1, e.at.Threads)})
	return err
}

// cell is the combination with plain values on the other axes.
func (e *env) cell() cell.Cell {
	return cell.Cell{
		Runtime: e.plugin.Info.Name, Execution: e.at.Execution, IOModel: e.at.IOModel, Threads: e.at.Threads,
		Protocol: e.protocol.Name, Payload: plainPayload, Clients: plainClients, Window: plainWindow,
		Pattern: cell.Stream, Placement: cell.Split, LoadWait: cell.Sleep, AddressFamily: cell.IPv4,
	}
}

// setup is what Prepare is given in a role.
func (e *env) setup(role string) control.Setup {
	s := control.Setup{
		Role: role, Cell: e.cell(), Threads: e.at.Threads, IOModel: e.at.IOModel,
		Seed: seed, CheckAll: true,
		LossAfter: int64(200 * time.Millisecond), DrainFor: int64(time.Second),
	}
	if e.protocol.TLS {
		s.CA, s.Cert, s.Key = e.certs.CA, e.certs.Cert, e.certs.Key
	}
	return s
}

// serve has a fresh process listen for messages of payload bytes; change (may
// be nil) changes what else it is told.
func (e *env) serve(payload int, change func(*control.Setup)) error {
	if err := e.start(); err != nil {
		return err
	}
	s := e.setup(control.RoleServer)
	s.Cell.Payload = payload
	if change != nil {
		change(&s)
	}
	return e.listenAs(s)
}

// listenAs has the process listen. What peers send is what it was told.
func (e *env) listenAs(s control.Setup) error {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	ready, err := e.process.Prepare(ctx, s)
	if err != nil {
		return fmt.Errorf("prepare %s: %w", e.at, err)
	}
	if len(ready.Addrs) == 0 {
		return fmt.Errorf("prepare %s: it listens nowhere", e.at)
	}
	e.addrs = ready.Addrs
	e.bodies, e.work = message.NewBodies(seed, s.Cell.Payload), message.NewWork(s.Cell.Work)
	return nil
}

func (e *env) inspect() (control.Counters, error) {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	c, err := e.process.Inspect(ctx)
	if err != nil {
		return c, fmt.Errorf("inspect: %w", err)
	}
	return c, nil
}

// eventually polls until look says nil; its last error is why it gave up.
func (e *env) eventually(within time.Duration, look func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for {
		err := look()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("%w, still after %v", err, within)
		case <-e.ctx.Done():
			return err
		}
	}
}

// each calls f for 0 to n-1, some side by side, and returns the first error.
func each(n int, f func(i int) error) error {
	const together = 16
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range min(n, together) {
		wg.Go(func() {
			for i := w; i < n; i += together {
				if errs[i] = f(i); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("peer %d: %w", i, err)
		}
	}
	return nil
}

// owns has c closed when the rule ends.
func (e *env) owns(c io.Closer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = append(e.opened, c)
}

// closeAll closes whatever the rule has opened, so that nobody waits.
func (e *env) closeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.opened {
		_ = c.Close()
	}
	e.opened = nil
}

func (e *env) finish() {
	e.closeAll()
	if e.process != nil {
		e.process.Kill()
	}
}

// explain puts an error into one line, and adds how the process ended if it
// did: a peer sees no more than that its connection broke.
func (e *env) explain(err error) string {
	const reaping = 200 * time.Millisecond
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // of joined errors
	if e.process != nil && !errors.Is(err, control.ErrPluginGone) {
		select {
		case <-e.process.Done():
			return fmt.Sprintf("%s (%v)", text, e.process.Err())
		case <-time.After(reaping):
		}
	}
	if e.ctx.Err() != nil {
		return fmt.Sprintf("%s (not done within %v)", text, limit)
	}
	return text
}

// unseen makes of an operating system that does not show a fact a reason to
// skip the rule.
func unseen(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return &skipped{"not to be seen on this system: " + err.Error()}
	}
	return err
}

// mib spells bytes for a reader.
func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
