package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

// reportFlags say what becomes of results.
type reportFlags struct {
	formats []string
	out     string
}

func newReport() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Report what runs show: as text, pages, CSV or JSON",
		Long: `report makes the records of one run, or of several with no trial in common, into
something to read: text for a terminal, md for a folder of Markdown pages, csv
with a line for each record, json with the medians and ranges of each row.`,
		Example: `  netmatrix report results/quick
  netmatrix report results/quick --format csv
  netmatrix report results/quick results/colocated --format md,json --out site`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s takes at least one argument, a results folder\nSee '%[1]s --help'.", c.CommandPath())
			}
			return f.check()
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringSliceVar(&f.formats, "format", []string{"text"}, "`formats`: text, md, csv, json, separated by commas")
	c.Flags().StringVar(&f.out, "out", "", "`folder` to write to; other files in it stay; default: stdout")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagDirname("out")
	return c
}

// formats are what --format takes.
var formats = []struct {
	name  string
	files func([]compare.Results, report.Options) ([]report.Page, error)
}{
	{"text", single("report.txt", textOf)},
	{"md", func(all []compare.Results, _ report.Options) ([]report.Page, error) { return report.Markdown(all), nil }},
	{"csv", single("records.csv", func(w io.Writer, all []compare.Results, _ report.Options) error { return report.CSV(w, all) })},
	{"json", single("summary.json", func(w io.Writer, all []compare.Results, _ report.Options) error { return report.JSON(w, all) })},
}

// single is a format of one file.
func single(name string, write func(io.Writer, []compare.Results, report.Options) error) func([]compare.Results, report.Options) ([]report.Page, error) {
	return func(all []compare.Results, o report.Options) ([]report.Page, error) {
		var b bytes.Buffer
		err := write(&b, all, o)
		return []report.Page{{Name: name, Data: b.Bytes()}}, err
	}
}

// textOf writes runs one after the other.
func textOf(w io.Writer, all []compare.Results, o report.Options) error {
	for i, res := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		o.Next = pagesCommand(res.Dir)
		if err := report.Text(w, res.Run, res.Records, o); err != nil {
			return err
		}
	}
	return nil
}

// pagesCommand makes pages of a results folder.
func pagesCommand(dir string) string {
	return commandLine([]string{"report", dir, "--format", "md", "--out", "DIR"})
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// check refuses formats that are unknown or have nowhere to go.
func (f *reportFlags) check() error {
	names := formatNames()
	for _, name := range f.formats {
		if !slices.Contains(names, name) {
			return usagef("--format: %q is none of %s", name, strings.Join(names, ", "))
		}
	}
	switch {
	case len(f.formats) == 0:
		return usagef("--format: none is given; choose from %s", strings.Join(names, ", "))
	case f.out != "":
	case slices.Contains(f.formats, "md"):
		return usagef("--format md makes several files: name a folder for them with --out")
	case len(f.formats) > 1:
		return usagef("--format: only one format goes to stdout; name a folder for %d with --out", len(f.formats))
	}
	return nil
}

func (f *reportFlags) run(c *cobra.Command, dirs []string) error {
	all, err := readResults(dirs)
	if err != nil {
		return err
	}
	options := report.Options{Width: defaultWidth}
	if f.out == "" {
		options = textOptions(c.OutOrStdout())
	}
	var files []report.Page
	for _, format := range formats {
		if !slices.Contains(f.formats, format.name) {
			continue
		}
		made, err := format.files(all, options)
		if err != nil {
			return err
		}
		files = append(files, made...)
	}
	if f.out == "" {
		if _, err := c.OutOrStdout().Write(files[0].Data); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	} else if err := writeFiles(f.out, files, c.ErrOrStderr()); err != nil {
		return err
	}
	var recs []record.Record
	for _, res := range all {
		recs = append(recs, res.Records...)
	}
	return verdict(recs, record.OK, record.Unsupported)
}

// readResults reads results folders that have no trial in common.
func readResults(dirs []string) ([]compare.Results, error) {
	var all []compare.Results
	for _, dir := range dirs {
		res, err := readRun(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, res)
	}
	if err := compare.Disjoint(all); err != nil {
		return nil, &usageError{err}
	}
	return all, nil
}

// readRun reads a results folder.
func readRun(dir string) (compare.Results, error) {
	r, err := record.ReadRun(dir)
	if err != nil {
		return compare.Results{}, &usageError{err}
	}
	recs, err := record.ReadAll(dir)
	return compare.Results{Dir: dir, Run: r, Records: recs}, err
}

// writeFiles puts files into a folder, beside what else is there.
func writeFiles(dir string, files []report.Page, talk io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder for the report: %w", err)
	}
	for _, f := range files {
		if err := record.WriteFile(filepath.Join(dir, f.Name), f.Data); err != nil {
			return err
		}
	}
	fmt.Fprintf(talk, "Report: %s\n", filepath.Join(dir, files[0].Name))
	return nil
}

// printReport prints the report of one run as text.
func printReport(c *cobra.Command, dirs []string) error {
	return (&reportFlags{formats: []string{"text"}}).run(c, dirs)
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
