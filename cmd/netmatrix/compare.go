package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/report"
)

func newCompare() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Set two runs from two sittings against each other",
		Long: `compare sets the cells that two runs have in common against each other: the weak
form, since whatever changed between the two sittings is in every ratio. What is
under test may differ: the builds of runtimes, their modules and their Go.
Everything else must be the same, or compare names what is not and refuses; with
--force it says so on the page instead. To measure two builds in one run, use ab.`,
		Example: "  netmatrix compare results/monday results/tuesday",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s takes two arguments, results folders, but was given %d\nSee '%[1]s --help'.", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			before, err := readRun(args[0])
			if err != nil {
				return err
			}
			after, err := readRun(args[1])
			if err != nil {
				return err
			}
			differences := compare.Circumstances(before, after)
			if len(differences) > 0 && !force {
				return notComparable(args, differences)
			}
			return report.Sittings(c.OutOrStdout(), before, after, differences, textOptions(c.OutOrStdout()))
		},
	}
	c.Flags().BoolVar(&force, "force", false, "compare runs that are not comparable, and say so")
	return c
}

// notComparable is the refusal, field by field.
func notComparable(dirs []string, differences []compare.Difference) error {
	var b strings.Builder
	for _, d := range differences {
		fmt.Fprintf(&b, "\n  %s: %s in %s, %s in %s", d.What, orUnknown(d.Before), dirs[0], orUnknown(d.After), dirs[1])
	}
	return usagef("the runs are not comparable, since they differ in more than what is under test:%s\nmeasure both under the same conditions, or take --force, which says so on the page", &b)
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}
