package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/matrix"
)

// matrixFlag is the flag that all commands which run something share.
func matrixFlag(c *cobra.Command) *string {
	file := c.Flags().StringP("file", "f", "matrix.yaml", "the matrix `file`: runtimes, suites and how they are measured")
	_ = c.MarkFlagFilename("file", "yaml", "yml")
	return file
}

// readMatrix reads a matrix file and returns its text too.
func readMatrix(path string) (m *matrix.Matrix, text string, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, "", usagef("read the matrix: %w: go to the folder that has one, or name one with --file", err)
	}
	if m, err = matrix.Parse(path, source); err != nil {
		return nil, "", err
	}
	for i := range m.Runtimes {
		// A run is gone on with from any folder.
		if m.Runtimes[i].Path, err = filepath.Abs(m.Runtimes[i].Path); err != nil {
			return nil, "", fmt.Errorf("path of plugin %s: %w", m.Runtimes[i].Name, err)
		}
	}
	return m, string(source), nil
}

// noArguments is for commands that take flags only.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, but was given %q\nSee '%[1]s --help'.", c.CommandPath(), args[0])
	}
	return nil
}

// oneArgument is for commands about one thing, which what names.
func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one argument, %s, but was given %d\nSee '%[1]s --help'.", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// withDriver loads nothing itself: it starts a host and a driver over the
// matrix's runtimes, calls f and leaves no process behind.
func withDriver(ctx context.Context, m *matrix.Matrix, only []string, f func(*driver.Driver) error) (err error) {
	host, err := goplugin.NewHost("")
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := host.Close(); err == nil {
			err = closeErr
		}
	}()
	d, err := driver.New(ctx, host, driver.Config{Runtimes: needed(m, only), Load: m.Load, CPUs: m.CPUs})
	if err != nil {
		return err
	}
	return f(d)
}

// needed are the runtimes named and the load's; all of them when none is named.
func needed(m *matrix.Matrix, only []string) []matrix.Runtime {
	if only == nil {
		return m.Runtimes
	}
	return slices.DeleteFunc(slices.Clone(m.Runtimes), func(r matrix.Runtime) bool {
		return r.Name != m.Load.Runtime && !slices.Contains(only, r.Name)
	})
}

// runtimesOf are the names of the runtimes in some cells.
func runtimesOf(cells []cell.Cell) []string {
	var names []string
	for _, c := range cells {
		if !slices.Contains(names, c.Runtime) {
			names = append(names, c.Runtime)
		}
	}
	return names
}

// commandLine is how this process was called, for a reader to repeat.
func commandLine(args []string) string {
	quoted := []string{"netmatrix"}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'$&|;<>()*?[]#~`\\") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted = append(quoted, a)
	}
	return strings.Join(quoted, " ")
}

func ownCommand() string { return commandLine(os.Args[1:]) }
