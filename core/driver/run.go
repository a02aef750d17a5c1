package driver

import (
	"context"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Overhead is about what a trial costs beyond its slices, for estimates.
const overhead = 80 * time.Millisecond

// PlannedTime is how long a trial will take, about, if nothing disturbs it.
// Contenders that cannot run take none.
func (d *Driver) PlannedTime(t Trial) time.Duration {
	k := 0
	for _, e := range t.entrants() {
		if d.Unsupported(t.Scenario.With(e.Contender)) == "" {
			k++
		}
	}
	if k == 0 {
		return 0
	}
	return length(plan(k, t.Warmup, t.Measure, t.Seed)) + overhead
}

// Progress is told by RunAll after each trial and before the first.
type Progress struct {
	Done, Of  int             // trials
	Next      *Trial          // the trial that begins now; nil: none is left
	Records   []record.Record // of the trial that ended, every attempt
	Elapsed   time.Duration
	Remaining time.Duration // by the plan, corrected by how long the trials so far took
}

// store is where records go.
type store interface{ Append(...record.Record) error }

// RunAll runs the trials in order. Records are appended, and synced, as soon as
// their attempt at a trial has ended; tell is called between trials and must not
// take long.
func (d *Driver) RunAll(ctx context.Context, trials []Trial, into store, tell func(Progress)) error {
	begun := time.Now()
	var planned, ahead time.Duration
	for _, t := range trials {
		ahead += d.PlannedTime(t)
	}
	p := Progress{Of: len(trials)}
	for i := range trials {
		t := &trials[i]
		p.Next, p.Elapsed, p.Remaining = t, time.Since(begun), ahead
		if planned > 0 {
			p.Remaining = time.Duration(float64(ahead) * float64(p.Elapsed) / float64(planned))
		}
		tell(p)
		recs, err := d.undisturbed(ctx, *t, into)
		if err != nil {
			return err
		}
		planned += d.PlannedTime(*t)
		ahead -= d.PlannedTime(*t)
		p.Done, p.Records = i+1, recs
	}
	p.Next, p.Elapsed, p.Remaining = nil, time.Since(begun), 0
	tell(p)
	return nil
}

// undisturbed runs a trial and, while others disturb it and its repeats last,
// again with those whose good records say so. Every attempt is stored.
func (d *Driver) undisturbed(ctx context.Context, t Trial, into store) ([]record.Record, error) {
	var all []record.Record
	entrants, x := t.entrants(), try{number: 1}
	for repeat := 0; ; repeat++ {
		recs, err := d.run(ctx, t, entrants, x)
		if err != nil {
			return nil, err
		}
		if err := into.Append(recs...); err != nil {
			return nil, err
		}
		all = append(all, recs...)
		again, why := disturbed(entrants, recs)
		if len(again) == 0 || repeat == t.Repeats {
			return all, nil
		}
		for _, r := range recs {
			x.number = max(x.number, r.Attempt)
		}
		entrants, x = again, x.next(why)
	}
}

// CPUSets are the CPUs that server and load get in cells of a placement.
func (d *Driver) CPUSets(placement string) record.CPUs {
	p := d.place(cell.Cell{Placement: placement, Clients: 1})
	return record.CPUs{Server: p.server, Load: p.load}
}
