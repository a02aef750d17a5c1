package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/record"
)

// Trial is one scenario to be measured with one contender or several side by
// side (split placement only).
type Trial struct {
	RunID, Suite           string
	Order, Round           int
	Group                  string
	Scenario               cell.Cell
	Contenders             []cell.Contender
	Twin                   cell.Contender // measured once more, as its own twin; zero: none
	Warmup, Measure        time.Duration  // for each contender
	SendBuffer, RecvBuffer int            // socket buffers to ask for, bytes; 0: the kernel's own
	Gaps                   string         // of an open loop; control.GapsFixed by default
	Seed                   uint64
	CheckAll               bool
	Repeats                int // RunAll: how often it is measured again, at most, while others disturb it
}

// blame is an error and the entrant it is charged to.
type blame struct {
	err     error
	detail  string   // the end of a plugin's stderr
	entrant *entrant // nil: nobody in particular
}

// Run measures a trial and returns one record for each contender, in their
// order, and the twin's. Who fails is recorded and taken out, and the others are
// measured again in fresh processes; when nobody can be blamed, each is
// measured alone. The error is the context's, when the run is called off.
func (d *Driver) Run(ctx context.Context, t Trial) ([]record.Record, error) {
	return d.run(ctx, t, t.entrants(), try{number: 1})
}

// run measures entrants of a trial, starting with try x.
func (d *Driver) run(ctx context.Context, t Trial, entrants []entrant, x try) ([]record.Record, error) {
	done := make(map[entrant]record.Record)
	var left []entrant
	for _, e := range entrants {
		if why := d.Unsupported(t.Scenario.With(e.Contender)); why != "" {
			done[e] = d.newRecord(t, e, x.number, record.Unsupported, why)
			continue
		}
		left = append(left, e)
	}
	if err := d.together(ctx, t, left, x, done); err != nil {
		return nil, err
	}
	recs := make([]record.Record, len(entrants))
	for i, e := range entrants {
		recs[i] = done[e]
	}
	return recs, nil
}

// try is one of the attempts at a trial.
type try struct {
	number int    // from 1
	after  string // why the one before came to nothing
}

func (x try) next(why error) try {
	return try{x.number + 1, fmt.Sprintf("attempt %d came to nothing: %v", x.number, why)}
}

func (d *Driver) together(ctx context.Context, t Trial, left []entrant, x try, done map[entrant]record.Record) error {
	for len(left) > 0 {
		recs, bl := d.attempt(ctx, t, left, x)
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		switch {
		case bl == nil:
			for i, e := range left {
				done[e] = recs[i]
			}
			return nil
		case bl.entrant != nil || len(left) == 1:
			who := left[0]
			if bl.entrant != nil {
				who = *bl.entrant
			}
			status := record.Failed
			if errors.Is(bl.err, control.ErrUnsupported) {
				status = record.Unsupported
			}
			rec := d.newRecord(t, who, x.number, status, bl.err.Error())
			rec.Detail = bl.detail
			done[who] = rec
			left = slices.DeleteFunc(slices.Clone(left), func(e entrant) bool { return e == who })
		default:
			for _, e := range left {
				if err := d.together(ctx, t, []entrant{e}, x.next(bl.err), done); err != nil {
					return err
				}
			}
			return nil
		}
		x = x.next(bl.err)
	}
	return nil
}

// attempt is one try with the given entrants, in fresh processes that are all
// gone when it returns.
func (d *Driver) attempt(ctx context.Context, t Trial, entrants []entrant, x try) ([]record.Record, *blame) {
	started := time.Now().UTC()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attempt{
		d: d, trial: t, cell: t.Scenario, place: d.place(t.Scenario),
		plan: plan(len(entrants), t.Warmup, t.Measure, t.Seed),
	}
	defer a.kill()
	for _, step := range []func(context.Context) *blame{
		func(ctx context.Context) *blame { return a.start(ctx, entrants, cancel) },
		a.prepare, a.before, a.measure, a.after,
	} {
		if bl := step(ctx); bl != nil {
			return nil, a.sharpen(ctx, bl)
		}
	}
	a.stop(ctx)
	recs := make([]record.Record, len(entrants))
	for i, e := range entrants {
		recs[i] = a.record(i, e, x.number)
		recs[i].Detail = x.after
		recs[i].StartedAt = started.Format(time.RFC3339Nano)
	}
	return recs, nil
}

// sharpen prefers the death of a process to whatever call noticed it first.
func (a *attempt) sharpen(ctx context.Context, bl *blame) *blame {
	var dead *deathError
	if errors.As(context.Cause(ctx), &dead) {
		return a.charge(dead.party, fmt.Errorf("%w (noticed in %s)", dead, a.step))
	}
	return bl
}
