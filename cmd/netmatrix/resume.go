package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
)

func newResume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume RESULTS",
		Short: "Go on with a run where it stopped",
		Long: `resume runs the trials of a results folder's schedule that have no record yet:
nothing is lost and nothing measured twice. The plugins must be the ones the run
began with.`,
		Example: "  netmatrix resume results/quick",
		Args:    oneArgument("the results folder"),
		RunE: func(c *cobra.Command, args []string) error {
			return resume(c, args[0])
		},
	}
}

func resume(c *cobra.Command, dir string) error {
	r, err := record.ReadRun(dir)
	if err != nil {
		return &usageError{err}
	}
	store, err := record.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	have, err := record.ReadAll(dir)
	if err != nil {
		return err
	}
	m, err := matrix.Parse("the matrix in "+dir, []byte(r.Matrix))
	if err != nil {
		return err
	}
	s, err := m.Suite(r.Suite)
	if err != nil {
		return err
	}
	if len(remaining(r, s, have)) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "nothing to do: every trial of the schedule has its records")
		return printReport(c, []string{dir})
	}
	restorePaths(m, r)
	var cells []cell.Cell
	for _, t := range r.Schedule {
		for _, k := range t.Contenders {
			cells = append(cells, t.Scenario.With(k))
		}
	}
	return withDriver(c.Context(), m, runtimesOf(cells), func(d *driver.Driver) error {
		if err := samePlugins(r, d); err != nil {
			return err
		}
		return carryOut(c.Context(), d, r, s, store, dir, have, c.OutOrStdout(), c.ErrOrStderr())
	})
}

// restorePaths lets the plugins be found where the run found them, since the
// matrix text alone does not tell which folder it was in.
func restorePaths(m *matrix.Matrix, r *record.Run) {
	for i := range m.Runtimes {
		for _, p := range r.Plugins {
			if p.Name == m.Runtimes[i].Name {
				m.Runtimes[i].Path = p.Path
			}
		}
	}
}

// samePlugins refuses to mix records of different builds in one run.
func samePlugins(r *record.Run, d *driver.Driver) error {
	then := make(map[string]string)
	for _, p := range r.Plugins {
		then[p.Name] = p.SHA256
	}
	for _, p := range d.Plugins() {
		if h, ok := then[p.Name]; ok && h != p.SHA256 {
			return fmt.Errorf("plugin %s was rebuilt since the run began (%.12s then, %.12s now): records of two builds do not belong in one run; start a new one", p.Name, h, p.SHA256)
		}
	}
	return nil
}
