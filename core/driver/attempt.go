package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// attempt is the processes of one try and what is known of them.
type attempt struct {
	d     *Driver
	trial Trial
	cell  cell.Cell
	place placement
	plan  []control.Slice
	step  string // what is being done, for errors

	servers []*party // one for each entrant; colocated: both ends
	load    *party   // colocated: the same as servers[0]
	result  control.Result
	others  *record.Others // what nobody of the trial did meanwhile; nil: unknown
}

// party is one process of a trial.
type party struct {
	name          string
	entrant       *entrant // nil: the load
	proc          *goplugin.Process
	ready         control.Ready
	before, after control.Counters
	peakRSS       int64 // -1: unknown
}

// deathError is a process that ended when it should not have.
type deathError struct {
	party *party
}

func (e *deathError) Error() string { return e.Unwrap().Error() }
func (e *deathError) Unwrap() error { return e.party.proc.Err() }

func (a *attempt) parties() []*party {
	if a.cell.Placement == cell.Colocated || a.load == nil {
		return a.servers
	}
	return append(a.servers[:len(a.servers):len(a.servers)], a.load)
}

// charge makes a blame of an error in a party.
func (a *attempt) charge(p *party, err error) *blame {
	bl := &blame{err: err, entrant: p.entrant}
	if p.proc != nil {
		bl.detail = p.proc.Stderr()
	}
	return bl
}

// each does f for the parties at once and returns the first blame in their
// order.
func (a *attempt) each(parties []*party, f func(*party) error) *blame {
	errs := make([]error, len(parties))
	var wg sync.WaitGroup
	for i, p := range parties {
		wg.Go(func() { errs[i] = f(p) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return a.charge(parties[i], fmt.Errorf("%s of %s: %w", a.step, parties[i].name, err))
		}
	}
	return nil
}

// start starts every process of the trial. died is called when one ends.
func (a *attempt) start(ctx context.Context, entrants []entrant, died context.CancelCauseFunc) *blame {
	a.step = "start"
	for _, e := range entrants {
		a.servers = append(a.servers, &party{name: e.String(), entrant: &e, peakRSS: -1})
	}
	if a.cell.Placement == cell.Colocated {
		a.load = a.servers[0]
	} else {
		a.load = &party{name: "load (" + a.d.load.Runtime + ")", peakRSS: -1}
	}
	return a.each(a.parties(), func(p *party) error {
		c := goplugin.Command{Name: p.name, CPUs: a.place.server, GOMAXPROCS: a.cell.Threads}
		if p.entrant == nil {
			c.Path, c.CPUs, c.GOMAXPROCS = a.d.plugins[a.d.load.Runtime].Path, a.place.load, a.place.loadThreads
		} else {
			c.Path = a.d.plugins[p.entrant.Runtime].Path
		}
		ctx, cancel := context.WithTimeout(ctx, a.d.timeouts.Start)
		defer cancel()
		proc, err := a.d.host.Start(ctx, c)
		if err != nil {
			return err
		}
		p.proc = proc
		go func() {
			<-proc.Done()
			died(&deathError{p})
		}()
		return nil
	})
}

// prepare lets the servers listen, then the load dial.
func (a *attempt) prepare(ctx context.Context) *blame {
	a.step = "prepare"
	role := control.RoleServer
	if a.cell.Placement == cell.Colocated {
		role = control.RoleBoth
	}
	if bl := a.each(a.servers, func(p *party) error {
		s := a.setup(role, a.cell.With(p.entrant.Contender))
		s.Threads, s.IOModel = a.cell.Threads, a.cell.IOModel
		return a.prepareOne(ctx, p, s)
	}); bl != nil || role == control.RoleBoth {
		return bl
	}
	s := a.setup(control.RoleLoad, a.cell)
	s.Threads, s.IOModel = a.place.loadThreads, a.place.loadIOModel
	for _, p := range a.servers {
		s.Targets = append(s.Targets, control.Target{Name: p.name, Addrs: p.ready.Addrs, PID: p.proc.PID()})
	}
	return a.each([]*party{a.load}, func(p *party) error { return a.prepareOne(ctx, p, s) })
}

func (a *attempt) setup(role string, c cell.Cell) control.Setup {
	s := control.Setup{
		Role: role, Cell: c,
		Send: a.trial.SendBuffer, Receive: a.trial.RecvBuffer,
		Gaps: a.trial.Gaps, Seed: a.trial.Seed, CheckAll: a.trial.CheckAll,
		Busy:     c.LoadWait == cell.Busy,
		DrainFor: int64(a.d.timeouts.Drain),
		// A datagram on loopback is answered in microseconds or not at all.
		LossAfter: int64(lossAfter),
	}
	if role != control.RoleServer {
		s.CA = a.d.certs.CA
	}
	if role != control.RoleLoad {
		s.Cert, s.Key = a.d.certs.Cert, a.d.certs.Key
	}
	return s
}

// lossAfter is when an unanswered datagram counts as lost.
const lossAfter = 200 * time.Millisecond

func (a *attempt) prepareOne(ctx context.Context, p *party, s control.Setup) error {
	ctx, cancel := context.WithTimeout(ctx, a.d.timeouts.Prepare)
	defer cancel()
	var err error
	p.ready, err = p.proc.Prepare(ctx, s)
	if err == nil && s.Role != control.RoleLoad && len(p.ready.Addrs) == 0 {
		err = fmt.Errorf("it listens nowhere")
	}
	return err
}

// before takes what is compared with afterwards: counters, and the high-water
// mark of memory, which starts anew.
func (a *attempt) before(ctx context.Context) *blame {
	a.step = "inspection"
	return a.each(a.parties(), func(p *party) error {
		var err error
		p.before, err = a.inspect(ctx, p)
		if resetErr := sysinfo.ResetPeakRSS(p.proc.PID()); resetErr == nil {
			p.peakRSS = 0
		}
		return err
	})
}

func (a *attempt) measure(ctx context.Context) *blame {
	a.step = "measurement"
	limit := length(a.plan) + a.drainLimit() + a.d.timeouts.Measure
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	others := a.watch()
	res, err := a.load.proc.Measure(ctx, a.plan)
	a.others = others()
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no result within %v, which is the plan, the drain and %v: %w", limit, a.d.timeouts.Measure, err)
		}
		return a.charge(a.load, fmt.Errorf("%s by %s: %w", a.step, a.load.name, err))
	}
	if err := checkResult(res, a.plan, len(a.servers), a.cell.Rate > 0); err != nil {
		return a.charge(a.load, fmt.Errorf("%s by %s: the result makes no sense: %w", a.step, a.load.name, err))
	}
	a.result = res
	return nil
}

// longestDrain bounds the wait for round trips that were seen to take long.
const longestDrain = time.Minute

// drainLimit is how long the load may wait for what is in flight at the end:
// four times the longest round trip it can have seen, as it does.
func (a *attempt) drainLimit() time.Duration {
	drain := a.d.timeouts.Drain
	return max(drain, min(4*(length(a.plan)+drain), longestDrain))
}

func (a *attempt) after(ctx context.Context) *blame {
	a.step = "inspection"
	return a.each(a.parties(), func(p *party) error {
		if p.peakRSS == 0 {
			if n, err := sysinfo.PeakRSS(p.proc.PID()); err == nil {
				p.peakRSS = n
			} else {
				p.peakRSS = -1
			}
		}
		var err error
		p.after, err = a.inspect(ctx, p)
		return err
	})
}

func (a *attempt) inspect(ctx context.Context, p *party) (control.Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, a.d.timeouts.Inspect)
	defer cancel()
	return p.proc.Inspect(ctx)
}

// stop asks every process to end by itself; the figures are in, so one that
// does not is just killed.
func (a *attempt) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, a.d.timeouts.Stop)
	defer cancel()
	a.each(a.parties(), func(p *party) error { return p.proc.Stop(ctx) })
}

func (a *attempt) kill() {
	a.each(a.parties(), func(p *party) error {
		if p.proc != nil {
			p.proc.Kill()
		}
		return nil
	})
}
