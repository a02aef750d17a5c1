package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
)

// The names of the two builds in a run of ab, and of the plugin that loads both.
const (
	oldName  = "old"
	newName  = "new"
	loadName = "load"
)

// abSuite is the suite that ab makes.
const abSuite = "ab"

// abFlags say what two builds are measured with.
type abFlags struct {
	cellFlags
	file, out, delta, gate string
	rounds                 int
}

func newAB() *cobra.Command {
	var f abFlags
	c := &cobra.Command{
		Use:   "ab OLD NEW",
		Short: "Measure two builds of a plugin in one run and say what differs",
		Long: `ab measures two plugin executables side by side, round by round, with a twin of
OLD as the control, and says in words what differs: the strong form of a
comparison. The rounds are fixed beforehand. The load is that of the matrix file.

With --gate, a loss that is certain and larger than its limit is measured a
second time, in as many rounds again; if these find it too, the exit code is 5.`,
		Example: `  netmatrix ab bin/before/rawpoll bin/plugins/rawpoll
  netmatrix ab old/rawpoll new/rawpoll --clients 1 --window 1 --gate throughput=3%,cpu=3%`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s takes two arguments, plugin executables, but was given %d\nSee '%[1]s --help'.", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], args[1]) },
	}
	fl := c.Flags()
	fl.StringVarP(&f.file, "file", "f", "matrix.yaml", "the matrix `file` that names the load and the CPUs")
	fl.IntVar(&f.rounds, "rounds", 10, "rounds of fresh processes; words need 7 or more")
	fl.StringVar(&f.delta, "delta", "3%", "ratios within 1 ± `share` count as equal")
	fl.StringVar(&f.gate, "gate", "", "`limits` on losses, such as throughput=3%,cpu=3%; also p50 and p99")
	fl.StringVar(&f.out, "out", "", "results `folder`; default: results/ab, with the time behind it if that is taken")
	f.add(c)
	_ = c.MarkFlagDirname("out")
	_ = c.MarkFlagFilename("file", "yaml", "yml")
	return c
}

func (f *abFlags) run(c *cobra.Command, oldPath, newPath string) error {
	t, err := f.trial()
	if err != nil {
		return err
	}
	g, err := f.gates()
	if err != nil {
		return err
	}
	m, err := f.builds(oldPath, newPath)
	if err != nil {
		return err
	}
	return withDriver(c.Context(), m, nil, func(d *driver.Driver) error {
		ch, err := f.choose(m, d, t)
		if err != nil {
			return err
		}
		store, dir, err := createStore(f.out, abSuite)
		if err != nil {
			return err
		}
		defer store.Close()
		r := ch.newRun(d)
		if err := store.WriteRun(r); err != nil {
			return err
		}
		measure := func(have []record.Record) ([]record.Record, error) {
			return measureAll(c.Context(), d, r, ch.suite, store, dir, have, c.ErrOrStderr())
		}
		recs, err := measure(nil)
		if err != nil {
			return err
		}
		outcome := g.judge(r, recs, 1, f.rounds)
		if outcome != nil && len(outcome.breached) > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%v: confirming in %d more rounds\n", outcome, f.rounds)
			r.Rounds = 2 * f.rounds
			r.Schedule = scheduled(matrix.Schedule(ch.suite, ch.cells, r.Rounds, ch.seed))
			if err := store.WriteRun(r); err != nil {
				return err
			}
			if recs, err = measure(recs); err != nil {
				return err
			}
			outcome = outcome.breached.judge(r, recs, f.rounds+1, r.Rounds)
		}
		if err := present(r, recs, dir, c.OutOrStdout(), c.ErrOrStderr()); err != nil || outcome == nil {
			return err
		}
		return outcome
	})
}

// builds is a matrix of the two builds and the load.
func (f *abFlags) builds(oldPath, newPath string) (*matrix.Matrix, error) {
	m, _, err := readMatrix(f.file)
	if err != nil {
		return nil, err
	}
	load, err := m.Runtime(m.Load.Runtime)
	if err != nil {
		return nil, err
	}
	m.Runtimes = nil
	for _, b := range []struct{ name, path string }{{oldName, oldPath}, {newName, newPath}, {loadName, load.Path}} {
		path, err := filepath.Abs(b.path)
		if err != nil {
			return nil, fmt.Errorf("path of %s: %w", b.name, err)
		}
		m.Runtimes = append(m.Runtimes, matrix.Runtime{Name: b.name, Plugin: path, Path: path})
	}
	m.Load.Runtime = loadName
	return m, nil
}

// choose makes a matrix file of what is asked for and chooses its one suite, so
// that the run is gone on with and reported like any other.
func (f *abFlags) choose(m *matrix.Matrix, d *driver.Driver, t driver.Trial) (*chosen, error) {
	k := cell.Contender{Runtime: oldName, Execution: cmp.Or(f.execution, executions(d.Plugins()[0])[0])}
	c := &chosen{source: f.matrixText(m, k, t), rounds: f.rounds, seed: t.Seed}
	var err error
	if c.matrix, err = matrix.Parse("the matrix of ab", []byte(c.source)); err != nil {
		return nil, err
	}
	if c.suite, err = c.matrix.Suite(abSuite); err != nil {
		return nil, err
	}
	c.cells = c.suite.Cells
	c.trials = matrix.Schedule(c.suite, c.cells, c.rounds, c.seed)
	return c, nil
}

// matrixText is the matrix file of a run of ab.
func (f *abFlags) matrixText(m *matrix.Matrix, old cell.Contender, t driver.Trial) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("version: 1")
	line("runtimes:")
	for _, r := range m.Runtimes {
		line("  %s: {plugin: %s}", r.Name, strconv.Quote(r.Path))
	}
	line("baseline: {runtime: %s, execution: %s}", old.Runtime, old.Execution)
	threads := "auto"
	if m.Load.Threads > 0 {
		threads = strconv.Itoa(m.Load.Threads)
	}
	line("load: {runtime: %s, threads: %s, wait: %s}", m.Load.Runtime, threads, m.Load.Wait)
	switch m.CPUs.Mode {
	case matrix.CPUsList:
		line("cpus: {server: %s, load: %s}", flowList(m.CPUs.Server), flowList(m.CPUs.Load))
	default:
		line("cpus: %s", m.CPUs.Mode)
	}
	line("suites:")
	line("  %s:", abSuite)
	line("    runtime: [%s, %s]", oldName, newName)
	line("    execution: %s", old.Execution)
	s := t.Scenario
	for _, axis := range []string{"io_model", "threads", "protocol", "payload", "clients", "window", "work", "pattern", "placement", "load_wait", "address_family"} {
		line("    %s: %s", axis, s.Axis(axis))
	}
	line("    rate: %s", strconv.FormatFloat(s.Rate, 'f', -1, 64))
	line("    buffers: {send: %d, receive: %d}", t.SendBuffer, t.RecvBuffer)
	line("    rounds: %d", f.rounds)
	line("    warmup: %v", t.Warmup)
	line("    measure: %v", t.Measure)
	line("    delta: %s", f.delta)
	return b.String()
}

// flowList is a list of numbers as a matrix file has it.
func flowList(list []int) string {
	return strings.ReplaceAll(fmt.Sprint(list), " ", ", ")
}
