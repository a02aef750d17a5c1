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
)

func newRuntimes() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runtimes",
		Short: "Say what each plugin can and cannot do, with versions",
		Example: `  netmatrix runtimes
  netmatrix runtimes --json | jq '.[] | {name, version, lacks}'`,
		Args: noArguments,
	}
	file := matrixFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		m, _, err := readMatrix(*file)
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
	list := make([]pluginInfo, len(plugins))
	broken := 0
	for i, p := range plugins {
		list[i] = newPluginInfo(p)
		if p.Err != nil {
			broken++
		}
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			return err
		}
	} else {
		for _, p := range list {
			p.print(w)
		}
	}
	if broken > 0 {
		return &trialsError{fmt.Sprintf("%d of %d plugins cannot be used", broken, len(plugins))}
	}
	return nil
}

// pluginInfo is what a user is told of a plugin.
type pluginInfo struct {
	Name      string            `json:"name"`
	Path      string            `json:"path"`
	SHA256    string            `json:"sha256"`
	Error     string            `json:"error,omitempty"` // why it cannot be used; the fields below are empty then
	Version   string            `json:"version"`         // of the library underneath
	GoVersion string            `json:"go_version"`
	Source    string            `json:"source_sha256"`
	Roles     []string          `json:"roles"`
	Protocols []string          `json:"protocols"`
	Models    map[string]string `json:"io_models"` // how each is done, in words
	ReadsOn   string            `json:"reads_on,omitempty"`
	Lacks     []lackInfo        `json:"lacks"`
	Stack     map[string]string `json:"stack"`
	Modules   map[string]string `json:"modules"`
}

// lackInfo is a value of an axis that a plugin cannot do.
type lackInfo struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

func newPluginInfo(p *driver.Plugin) pluginInfo {
	d := p.Description
	x := pluginInfo{
		Name: p.Name, Path: p.Path, SHA256: p.SHA256,
		Version: d.Info.Version, GoVersion: d.GoVersion, Source: d.Source,
		Roles: d.Roles, Protocols: d.Protocols, Models: d.Info.Models, ReadsOn: d.Info.ReadsOn,
		Stack: d.Stack, Modules: p.Build.Modules,
	}
	if p.Err != nil {
		x.Error = p.Err.Error()
	}
	for _, l := range d.Info.Lacks {
		x.Lacks = append(x.Lacks, lackInfo(l))
	}
	return x
}

func (p *pluginInfo) print(w io.Writer) {
	fmt.Fprintf(w, "%s  %s\n", p.Name, p.Path)
	if p.Error != "" {
		fmt.Fprintf(w, "  cannot be used: %s\n\n", p.Error)
		return
	}
	line := func(name, text string) { fmt.Fprintf(w, "  %-11s %s\n", name, text) }
	version := p.Version
	if p.GoVersion != "" {
		version += ", " + p.GoVersion
	}
	line("version", version)
	line("sha256", p.SHA256)
	line("protocols", strings.Join(p.Protocols, " "))
	for _, m := range slices.Sorted(maps.Keys(p.Models)) {
		line(m, p.Models[m])
	}
	if p.ReadsOn != "" {
		line("reads on", p.ReadsOn)
	}
	for _, l := range p.Lacks {
		line("no", fmt.Sprintf("%s %s: %s", l.Axis, l.Value, l.Why))
	}
	fmt.Fprintln(w)
}
