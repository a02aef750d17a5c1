package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/doctor"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// runFlags choose what to run; run and plan share them.
type runFlags struct {
	file, suite, only string
	rounds            int
	seed              uint64
}

func (f *runFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVarP(&f.file, "file", "f", "matrix.yaml", "the matrix `file`")
	fl.StringVar(&f.suite, "suite", "quick", "the suite to run, by `name`")
	fl.StringVar(&f.only, "only", "", "keep only these cells: `axis=value`,axis=value")
	fl.IntVar(&f.rounds, "rounds", 0, "rounds of fresh processes; 0: as the suite says")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order and of message bodies; 0: a new one")
	_ = c.MarkFlagFilename("file", "yaml", "yml")
	_ = c.RegisterFlagCompletionFunc("suite", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		m, err := matrix.Load(f.file)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, s := range m.Suites {
			names = append(names, s.Name+"\t"+s.Question)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// chosen is a suite with the schedule that the flags make of it.
type chosen struct {
	source string // text of the matrix file
	matrix *matrix.Matrix
	suite  *matrix.Suite
	cells  []cell.Cell
	rounds int
	seed   uint64
	trials []matrix.Trial
}

func (f *runFlags) choose() (*chosen, error) {
	c := &chosen{rounds: f.rounds, seed: f.seed}
	var err error
	if c.matrix, c.source, err = readMatrix(f.file); err != nil {
		return nil, err
	}
	if c.suite, err = c.matrix.Suite(f.suite); err != nil {
		return nil, &usageError{err}
	}
	c.cells = c.suite.Cells
	if f.only != "" {
		if c.cells, err = matrix.Only(c.cells, f.only); err != nil {
			return nil, &usageError{err}
		}
	}
	switch {
	case f.rounds < 0 || f.rounds > matrix.MaxRounds:
		return nil, usagef("--rounds: %d lies outside 1 to %d", f.rounds, matrix.MaxRounds)
	case f.rounds == 0:
		c.rounds = c.suite.Rounds
	}
	if c.seed == 0 {
		c.seed = rand.Uint64()
	}
	c.trials = matrix.Schedule(c.suite, c.cells, c.rounds, c.seed)
	return c, nil
}

func newRun() *cobra.Command {
	var f runFlags
	var out string
	c := &cobra.Command{
		Use:   "run",
		Short: "Run a suite of the matrix and print what it shows",
		Long: `run measures every cell of a suite, round by round, in fresh processes, and
prints a table at the end. Each trial's records are on disk when it ends, so
that a run can be interrupted at any moment and gone on with by resume.`,
		Example: `  netmatrix run
  netmatrix run --suite quick --only contender=rawpoll/callback --rounds 5`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ch, err := f.choose()
			if err != nil {
				return err
			}
			return withDriver(c.Context(), ch.matrix, runtimesOf(ch.cells), func(d *driver.Driver) error {
				store, dir, err := createStore(out, ch.suite.Name)
				if err != nil {
					return err
				}
				defer store.Close()
				r := ch.newRun(d)
				if err := store.WriteRun(r); err != nil {
					return err
				}
				return carryOut(c.Context(), d, r, ch.suite, store, dir, nil, c.OutOrStdout(), c.ErrOrStderr())
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&out, "out", "", "results `folder`; default: results/SUITE, with the time behind it if that is taken")
	return c
}

// createStore makes the results folder. One that was asked for by name must be
// free; the default moves aside.
func createStore(out, suite string) (*record.Store, string, error) {
	if out != "" {
		s, err := record.Create(out)
		return s, out, err
	}
	dir := filepath.Join("results", suite)
	if _, err := record.ReadRun(dir); err == nil {
		dir += "-" + time.Now().Format("20060102-150405")
	}
	s, err := record.Create(dir)
	return s, dir, err
}

// newRun is what run.json says of the run that begins.
func (c *chosen) newRun(d *driver.Driver) *record.Run {
	r := &record.Run{
		Schema: record.Schema, RunID: newRunID(), StartedAt: time.Now().UTC().Format(time.RFC3339),
		Command: ownCommand(), Suite: c.suite.Name, Contrast: c.suite.Contrast, Primary: "roundtrips_per_second", Delta: c.suite.Delta,
		Baseline: c.matrix.Baseline, Seed: c.seed, Rounds: c.rounds,
		WarmupNanos: int64(c.suite.Warmup), MeasureNanos: int64(c.suite.Measure),
		Matrix: c.source, Environment: sysinfo.Machine(), CPUs: d.CPUSets(c.cells[0].Placement),
	}
	r.WorkMicros = doctor.Calibrate(r.CPUs.Server).Micros
	r.Schedule = scheduled(c.trials)
	for _, p := range d.Plugins() {
		r.Plugins = append(r.Plugins, record.Plugin{
			Name: p.Name, Path: p.Path, SHA256: p.SHA256,
			Version: p.Description.Info.Version, GoVersion: p.Description.GoVersion, Modules: p.Build.Modules,
		})
	}
	return r
}

// scheduled are trials as run.json keeps them.
func scheduled(trials []matrix.Trial) []record.Trial {
	var list []record.Trial
	for _, t := range trials {
		list = append(list, record.Trial{Order: t.Order, Round: t.Round, Group: t.Group, Scenario: t.Scenario, Contenders: t.Contenders, Twin: t.Twin})
	}
	return list
}

// newRunID tells runs apart, and sorts by time.
func newRunID() string {
	return time.Now().UTC().Format("20060102T150405Z") + fmt.Sprintf("-%08x", rand.Uint32())
}

// carryOut runs the part of a run's schedule that has no records yet, then
// prints the report.
func carryOut(ctx context.Context, d *driver.Driver, r *record.Run, s *matrix.Suite, store *record.Store, dir string, have []record.Record, out, talk io.Writer) error {
	recs, err := measureAll(ctx, d, r, s, store, dir, have, talk)
	if err != nil {
		return err
	}
	return present(r, recs, dir, out, talk)
}

// measureAll runs the part of a run's schedule that has no records yet, and
// reads all records there are then.
func measureAll(ctx context.Context, d *driver.Driver, r *record.Run, s *matrix.Suite, store *record.Store, dir string, have []record.Record, talk io.Writer) ([]record.Record, error) {
	trials := remaining(r, s, have)
	show := newProgress(talk)
	show.begin(d, dir, trials)
	err := d.RunAll(ctx, trials, store, show.tell)
	show.end()
	if err != nil {
		fmt.Fprintf(talk, "What was measured is in %s; go on with: netmatrix resume %s\n", dir, dir)
		return nil, err
	}
	return record.ReadAll(dir)
}

// present prints the report of a run; the error says whether all in it is good.
func present(r *record.Run, recs []record.Record, dir string, out, talk io.Writer) error {
	options := textOptions(out)
	options.Next = pagesCommand(dir)
	if err := report.Text(out, r, recs, options); err != nil {
		return err
	}
	fmt.Fprintf(talk, "\nRecords: %s\n", filepath.Join(dir, "trials.jsonl"))
	return verdict(recs, record.OK, record.Unsupported)
}

// remaining are the trials of the schedule for which records are missing, with
// the contenders and the twin whose records they are.
func remaining(r *record.Run, s *matrix.Suite, have []record.Record) []driver.Trial {
	type key struct {
		group string
		c     cell.Contender
		twin  bool
	}
	done := make(map[key]bool)
	for _, rec := range have {
		done[key{rec.Group, rec.Cell.Contender(), rec.Twin}] = true
	}
	var trials []driver.Trial
	for _, t := range r.Schedule {
		var left []cell.Contender
		for _, c := range t.Contenders {
			if !done[key{t.Group, c, false}] {
				left = append(left, c)
			}
		}
		twin := t.Twin
		if done[key{t.Group, twin, true}] {
			twin = cell.Contender{}
		}
		if len(left) == 0 && twin == (cell.Contender{}) {
			continue
		}
		trials = append(trials, driver.Trial{
			RunID: r.RunID, Suite: r.Suite, Order: t.Order, Round: t.Round, Group: t.Group,
			Scenario: t.Scenario, Contenders: left, Twin: twin,
			Warmup: time.Duration(r.WarmupNanos), Measure: time.Duration(r.MeasureNanos),
			SendBuffer: s.SendBuffer, RecvBuffer: s.ReceiveBuffer,
			Seed: r.Seed + uint64(t.Round), Repeats: s.Repeats,
		})
	}
	return trials
}
