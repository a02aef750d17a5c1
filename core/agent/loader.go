package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/sysinfo"
	"github.com/netmatrix/netmatrix/core/transport"
)

// recordersPerThread keeps the sessions of different threads from meeting at
// one recorder.
const recordersPerThread = 4

// answerTime is left of a call's deadline for its answer.
const answerTime = time.Second

// loader is the dialling side of a prepared agent.
type loader struct {
	load   *load.Load
	groups []transport.Group // one for each target
	setup  control.Setup

	secured    []tlslayer.Session // with TLS: every session's layer
	negotiated string             // with TLS: version, cipher and curve, the same for all
}

// dial connects to every target and waits for one checked exchange on each
// connection.
func dial(ctx context.Context, rt transport.Runtime, p protocol.Protocol, s control.Setup) (*loader, error) {
	if len(s.Targets) == 0 {
		return nil, errors.New("no target to talk to")
	}
	d := &loader{setup: s}
	c := config(p, s)
	c.Busy = s.Busy
	if s.Role == control.RoleLoad {
		c.Execution = loadExecution(rt.Info())
	}
	recorders := 1
	if c.Threads > 1 || c.Execution == cell.Goroutine {
		recorders = recordersPerThread * c.Threads
	}
	var err error
	d.load, err = load.New(load.Config{
		Protocol: p, Payload: s.Cell.Payload, Clients: s.Cell.Clients, Window: s.Cell.Window,
		Batch: s.Cell.Pattern == cell.Batch, Work: s.Cell.Work, Rate: s.Cell.Rate, Gaps: s.Gaps,
		Seed: s.Seed, CheckAll: s.CheckAll, LossAfter: s.LossAfter,
		Shards: recorders, Clock: c.Clock,
		TargetCPU: d.targetCPU, OwnCPU: ownCPU, Working: d.working,
	}, len(s.Targets))
	if err != nil {
		return nil, err
	}
	for t, target := range s.Targets {
		sessions := d.load.Sessions(t)
		if p.TLS {
			if err := d.secure(sessions); err != nil {
				return nil, errors.Join(err, d.close())
			}
		}
		g, err := rt.Dial(c, target.Addrs, sessions)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dial %d connections to %s at %v: %w", s.Cell.Clients, target.Name, target.Addrs, err), d.close())
		}
		d.groups = append(d.groups, g)
	}
	if err := d.verify(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// loadExecution is how a load runs: by callbacks, which cost least, where the
// runtime has them. A cell's execution is the server's.
func loadExecution(info transport.Info) string {
	if lack(info, "execution", cell.Callback) != "" {
		return cell.Goroutine
	}
	return cell.Callback
}

// verify waits for the checked exchanges.
func (d *loader) verify(ctx context.Context) error {
	select {
	case <-d.load.Verified():
	case <-ctx.Done():
		return fmt.Errorf("the first exchange on each connection did not come back in time: %w", errors.Join(d.load.Err(), ctx.Err()))
	}
	if err := d.load.Err(); err != nil {
		return fmt.Errorf("the first exchange on each connection went wrong: %w", err)
	}
	if err := d.agreeOnTLS(); err != nil {
		return err
	}
	if got, want := d.live(), d.setup.Cell.Clients*len(d.setup.Targets); got != want {
		return fmt.Errorf("%d connections are open instead of %d", got, want)
	}
	return nil
}

func (d *loader) measure(ctx context.Context, plan []control.Slice) (control.Result, error) {
	if err := d.load.Start(plan); err != nil {
		return control.Result{}, err
	}
	for _, g := range d.groups {
		g.Wake()
	}
	var length int64
	for _, s := range plan {
		length += s.Length
	}
	timer := time.NewTimer(time.Duration(length + d.setup.DrainFor))
	defer timer.Stop()
	for extended := false; ; extended = true {
		select {
		case <-d.load.Done():
			return d.load.Result()
		case <-ctx.Done():
			return control.Result{}, ctx.Err()
		case <-timer.C:
		}
		// A round trip longer than the drain may have been seen: give the last
		// ones four times as long, once, as far as the driver waits for it.
		more := 4*d.load.LongestRTT() - d.setup.DrainFor
		if deadline, ok := ctx.Deadline(); ok {
			more = min(more, int64(time.Until(deadline)-answerTime))
		}
		if extended || more <= 0 {
			return d.load.Result()
		}
		timer.Reset(time.Duration(more))
	}
}

func (d *loader) live() int {
	n := 0
	for _, g := range d.groups {
		n += g.Live()
	}
	return n
}

// working is the time the IO threads had work in hand. All groups share the
// threads, so any one of them tells; of both ends on one thread neither can.
func (d *loader) working() int64 {
	if d.setup.Role == control.RoleLoad {
		if w, ok := d.groups[0].(transport.Worker); ok {
			return w.Working()
		}
	}
	return -1
}

// targetCPU reads the CPU clock of a target's process, of this one if the
// target lives here.
func (d *loader) targetCPU(target int) int64 {
	pid := d.setup.Targets[target].PID
	if pid == 0 && d.setup.Role != control.RoleBoth {
		return -1
	}
	n, err := sysinfo.ProcessCPU(pid)
	if err != nil {
		return -1
	}
	return n
}

func ownCPU() int64 {
	n, err := sysinfo.OwnCPU()
	if err != nil {
		return -1
	}
	return n
}

func (d *loader) close() error {
	var errs []error
	for _, g := range d.groups {
		errs = append(errs, g.Close())
	}
	d.groups = nil
	return errors.Join(errs...)
}
