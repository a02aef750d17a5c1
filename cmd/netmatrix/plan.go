package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
)

func newPlan() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Say what a run would measure and how long it takes; run nothing",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ch, err := f.choose()
			if err != nil {
				return err
			}
			return withDriver(c.Context(), ch.matrix, runtimesOf(ch.cells), func(d *driver.Driver) error {
				return ch.print(c, d)
			})
		},
	}
	f.add(c)
	return c
}

func (c *chosen) print(cmd *cobra.Command, d *driver.Driver) error {
	out := cmd.OutOrStdout()
	trials := remaining(c.newRun(d), c.suite, nil)
	var takes time.Duration
	for _, t := range trials {
		takes += d.PlannedTime(t)
	}
	fmt.Fprintln(out, "suite", strings.TrimSuffix(c.suite.Name+": "+c.suite.Question, ": "))
	fmt.Fprintf(out, "%d cells × %d rounds in %d trials, about %v\n\n", len(c.cells), c.rounds, len(trials), takes.Round(time.Second))
	for _, x := range c.cells {
		if why := d.Unsupported(x); why != "" {
			fmt.Fprintf(out, "  %-60s unsupported: %s\n", x, why)
			continue
		}
		fmt.Fprintf(out, "  %s\n", x)
	}
	if hasTwin(trials) {
		fmt.Fprintf(out, "\nand a twin of %s in each scenario, for the noise floor\n", c.suite.Twin)
	}
	if len(c.suite.Excluded) > 0 {
		fmt.Fprintf(out, "\n%d cells excluded by the matrix, for example %s: %s\n", len(c.suite.Excluded), c.suite.Excluded[0].Cell, c.suite.Excluded[0].Why)
	}
	return nil
}

func hasTwin(trials []driver.Trial) bool {
	return slices.ContainsFunc(trials, func(t driver.Trial) bool { return t.Twin != (cell.Contender{}) })
}
