package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/transport"
)

// benchFlags say what to measure, and of whom.
type benchFlags struct {
	cellFlags
	file, check string
	gaps        string // of cell.Rate
	runtimes    []string
}

func newBench() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench --runtime NAME [flags]",
		Short: "Measure one trial and print its record as a line of JSON",
		Long: `bench measures one cell once, in fresh processes, and prints one record a
contender, one line of JSON each, on stdout; everything else goes to stderr.

With several --runtime the contenders are alive side by side and the load
switches between them; colocated, one is measured after another.`,
		Example: `  netmatrix bench --runtime rawpoll --payload 1KiB --clients 16 --window 16
  netmatrix bench --runtime rawpoll/callback,coroutine/goroutine | jq .metrics.rtt_us
  netmatrix bench --runtime all --placement colocated --io-model sharded --threads 2
  netmatrix bench --runtime all --rate 10000 --gaps exponential`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fl := c.Flags()
	fl.StringVarP(&f.file, "file", "f", "matrix.yaml", "the matrix `file` that names the plugins")
	fl.StringSliceVar(&f.runtimes, "runtime", nil, "`runtime` or runtime/execution, repeatable or separated by commas, or all")
	f.add(c)
	fl.StringVar(&f.gaps, "gaps", "", "between the messages of --rate: fixed (default) or exponential, drawn from the seed")
	fl.StringVar(&f.check, "check", "sample", "bodies to check while measuring: sample (1 in 64) or all")
	_ = c.MarkFlagRequired("runtime")
	f.complete(c)
	return c
}

// complete completes the flags that bench has by itself.
func (f *benchFlags) complete(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("gaps", cobra.FixedCompletions([]string{control.GapsFixed, control.GapsExponential}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("runtime", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		m, err := matrix.Load(f.file)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := []string{"all"}
		for _, r := range m.Runtimes {
			names = append(names, r.Name, r.Name+"/"+cell.Callback, r.Name+"/"+cell.Goroutine)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

func (f *benchFlags) run(c *cobra.Command) error {
	t, err := f.trial()
	if err != nil {
		return err
	}
	m, _, err := readMatrix(f.file)
	if err != nil {
		return err
	}
	names, err := f.named(m)
	if err != nil {
		return err
	}
	ctx, out, talk := c.Context(), c.OutOrStdout(), c.ErrOrStderr()
	return withDriver(ctx, m, names, func(d *driver.Driver) error {
		if t.Contenders, err = f.contenders(d); err != nil {
			return err
		}
		return measure(ctx, d, t, out, talk)
	})
}

// measure runs the trial and prints its records. Colocated contenders, each of
// which is a process with a load of its own, are measured one after another.
func measure(ctx context.Context, d *driver.Driver, t driver.Trial, out, talk io.Writer) error {
	sittings := []driver.Trial{t}
	if t.Scenario.Placement == cell.Colocated {
		sittings = nil
		for i, k := range t.Contenders {
			one := t
			one.Order, one.Contenders = i+1, []cell.Contender{k}
			sittings = append(sittings, one)
		}
	}
	var takes time.Duration
	for _, s := range sittings {
		takes += d.PlannedTime(s)
	}
	fmt.Fprintf(talk, "%s: %d contender(s), about %v\n", t.Scenario, len(t.Contenders), takes.Round(100*time.Millisecond))

	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var all []record.Record
	for _, s := range sittings {
		recs, err := d.Run(ctx, s)
		if err != nil {
			return err
		}
		for _, r := range recs {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		all = append(all, recs...)
	}
	return verdict(all, record.OK)
}

// trial is the trial without its contenders, checked as far as it goes.
func (f *benchFlags) trial() (driver.Trial, error) {
	t, err := f.cellFlags.trial()
	if err != nil {
		return t, err
	}
	t.RunID, t.Group, t.Gaps = "bench", "bench", f.gaps
	switch f.check {
	case "sample":
	case "all":
		t.CheckAll = true
	default:
		return t, usagef("--check: %q is neither sample nor all", f.check)
	}
	return t, f.checkGaps()
}

func (f *benchFlags) checkGaps() error {
	switch {
	case f.gaps == "":
		return nil
	case f.gaps != control.GapsFixed && f.gaps != control.GapsExponential:
		return usagef("--gaps: %q is neither %s nor %s", f.gaps, control.GapsFixed, control.GapsExponential)
	case f.cell.Rate == 0:
		return usagef("--gaps: a closed loop has none: give a --rate too")
	}
	return nil
}

// named are the runtimes asked for; nil: all.
func (f *benchFlags) named(m *matrix.Matrix) ([]string, error) {
	var names []string
	for _, r := range f.runtimes {
		if r == "all" {
			return nil, nil
		}
		name, execution, given := strings.Cut(r, "/")
		if _, err := m.Runtime(name); err != nil {
			return nil, usagef("--runtime: %w", err)
		}
		if given && !slices.Contains(cell.Values("execution"), execution) {
			return nil, usagef("--runtime %s: %q is none of %s", r, execution, strings.Join(cell.Values("execution"), ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

// contenders turns --runtime and --execution into contenders. A runtime of
// which neither says an execution takes part with the first it has; all is
// every contender there is.
func (f *benchFlags) contenders(d *driver.Driver) ([]cell.Contender, error) {
	var list []cell.Contender
	for _, r := range f.runtimes {
		name, execution, _ := strings.Cut(r, "/")
		execution = cmp.Or(execution, f.execution)
		for _, p := range d.Plugins() {
			has := executions(p)
			switch {
			case r == "all":
				if f.execution != "" {
					has = []string{f.execution}
				}
			case p.Name != name:
				continue
			case execution != "":
				has = []string{execution}
			default:
				has = has[:1]
			}
			for _, e := range has {
				list = append(list, cell.Contender{Runtime: p.Name, Execution: e})
			}
		}
	}
	seen := make(map[cell.Contender]bool)
	for _, c := range list {
		if seen[c] {
			return nil, usagef("--runtime: %s is named twice", c)
		}
		seen[c] = true
	}
	return list, nil
}

// executions are those a plugin has, callback first; all of them while it is
// not known, so that its trial can say why.
func executions(p *driver.Plugin) []string {
	has := slices.DeleteFunc(slices.Clone(cell.Values("execution")), func(e string) bool {
		return slices.ContainsFunc(p.Description.Info.Lacks, func(l transport.Lack) bool { return l.Axis == "execution" && l.Value == e })
	})
	if len(has) == 0 {
		return cell.Values("execution")
	}
	return has
}
