package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:     "report RESULTS",
		Short:   "Print what a run shows",
		Example: "  netmatrix report results/quick",
		Args:    oneArgument("the results folder"),
		RunE:    func(c *cobra.Command, args []string) error { return printReport(c, args) },
	}
}

func printReport(c *cobra.Command, dirs []string) error {
	r, err := record.ReadRun(dirs[0])
	if err != nil {
		return &usageError{err}
	}
	recs, err := record.ReadAll(dirs[0])
	if err != nil {
		return err
	}
	if err := report.Text(c.OutOrStdout(), r, recs, textOptions(c.OutOrStdout())); err != nil {
		return err
	}
	return verdict(recs, record.OK, record.Unsupported)
}

// defaultWidth is taken where the output is no terminal.
const defaultWidth = 100

// textOptions fit a text report to where it goes.
func textOptions(w io.Writer) report.Options {
	o := report.Options{Width: defaultWidth}
	if fd, ok := terminal(w); ok {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			o.Width = width
		}
		o.Color = os.Getenv("NO_COLOR") == ""
	}
	return o
}

// terminal returns the descriptor of w if it is a terminal that heeds escape
// codes; a dumb one is written to like a file.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	return int(f.Fd()), true
}
