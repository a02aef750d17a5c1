package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
)

func newRuntimes() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runtimes",
		Short: "Say what each plugin can and cannot do, with versions",
		Args:  cobra.NoArgs,
	}
	file := matrixFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		m, err := matrix.Load(*file)
		if err != nil {
			return err
		}
		return withDriver(c.Context(), m, nil, func(d *driver.Driver) error {
			return printRuntimes(c.OutOrStdout(), d.Plugins(), asJSON)
		})
	}
	return c
}

func printRuntimes(w io.Writer, plugins []*driver.Plugin, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(plugins)
	}
	broken := 0
	for _, p := range plugins {
		if p.Err != nil {
			broken++
		}
		printRuntime(w, p)
	}
	if broken > 0 {
		return &trialsError{fmt.Sprintf("%d of %d plugins cannot be used", broken, len(plugins))}
	}
	return nil
}

func printRuntime(w io.Writer, p *driver.Plugin) {
	fmt.Fprintf(w, "%s  %s\n", p.Name, p.Path)
	if p.Err != nil {
		fmt.Fprintf(w, "  cannot be used: %v\n\n", p.Err)
		return
	}
	line := func(name, text string) { fmt.Fprintf(w, "  %-11s %s\n", name, text) }
	info := p.Description.Info
	version := info.Version
	if p.Description.GoVersion != "" {
		version += ", " + p.Description.GoVersion
	}
	line("version", version)
	line("sha256", p.SHA256)
	line("protocols", strings.Join(p.Description.Protocols, " "))
	for _, m := range slices.Sorted(maps.Keys(info.Models)) {
		line(m, info.Models[m])
	}
	if info.ReadsOn != "" {
		line("reads on", info.ReadsOn)
	}
	for _, l := range info.Lacks {
		line("no", fmt.Sprintf("%s %s: %s", l.Axis, l.Value, l.Why))
	}
	fmt.Fprintln(w)
}
