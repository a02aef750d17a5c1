package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/doctor"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Findings []doctor.Finding   `json:"findings"`
	Work     doctor.Calibration `json:"work"`
	Machine  sysinfo.Facts      `json:"machine"`
}

func newDoctor() *cobra.Command {
	var strict, asJSON bool
	var watch time.Duration
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine is fit to measure on, and what to do about it",
		Long: `doctor checks the machine against what the matrix asks of it: CPUs, what else
runs on them, limits, clocks and kernel settings. It changes nothing. For each
check that finds something it says why that matters and what to do.`,
		Example: `  netmatrix doctor
  netmatrix doctor --strict && netmatrix run
  netmatrix doctor --json | jq '.findings[] | select(.level == "warning")'`,
		Args: noArguments,
	}
	file := matrixFlag(c)
	c.Flags().BoolVar(&strict, "strict", false, "exit 1 when there is a warning")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().DurationVar(&watch, "watch", 3*time.Second, "how long to watch what others do on the CPUs; 0: not at all")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if watch < 0 || watch > time.Hour {
			return usagef("--watch: %v lies outside 0 to 1h", watch)
		}
		d, err := diagnose(c, *file, watch)
		if err != nil {
			return err
		}
		if err := d.print(c, asJSON); err != nil {
			return err
		}
		if strict && doctor.Count(d.Findings, doctor.Warning) > 0 {
			return errors.New("this machine is not fit to measure on: see the warnings")
		}
		return nil
	}
	return c
}

func diagnose(c *cobra.Command, file string, watch time.Duration) (*diagnosis, error) {
	machine := sysinfo.Machine()
	demand := doctor.Reference(machine.AllowedCPUs)
	m, _, err := readMatrix(file)
	switch {
	case err == nil:
		demand = doctor.DemandOf(m, machine.AllowedCPUs)
	case errors.Is(err, fs.ErrNotExist) && !c.Flags().Changed("file"):
		fmt.Fprintf(c.ErrOrStderr(), "No %s here: taking the demands of the reference.\n", file)
	default:
		return nil, err
	}
	if watch > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "Watching the CPUs for %v ...\n", watch)
	}
	s, err := doctor.Look(c.Context(), machine, demand, watch)
	if err != nil {
		return nil, err
	}
	return &diagnosis{doctor.Examine(s), s.Work, machine}, nil
}

func (d *diagnosis) print(c *cobra.Command, asJSON bool) error {
	out := c.OutOrStdout()
	if !asJSON {
		return doctor.Text(out, d.Findings)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}
