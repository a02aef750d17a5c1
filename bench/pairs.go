package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// side measures a workload once and returns the figure that is compared.
type side func(context.Context) (float64, error)

// contest is one workload and the two sides that run it.
type contest struct {
	name         string
	ours, theirs side
	goal         string // for ours ÷ theirs, in words
}

// options are the flags that every comparison has.
type options struct {
	pairs int
	only  string
}

// parse reads args; a comparison adds its own flags to fs beforehand.
func (o *options) parse(fs *flag.FlagSet, args []string, stderr io.Writer) error {
	fs.SetOutput(stderr)
	fs.IntVar(&o.pairs, "pairs", 15, "alternating pairs of each workload")
	fs.StringVar(&o.only, "only", "", "only workloads whose description contains this `text`")
	switch err := fs.Parse(args); {
	case err == flag.ErrHelp:
		return err
	case err != nil:
		return errUsage
	case fs.NArg() > 0 || o.pairs < 1:
		fmt.Fprintf(stderr, "bench: -pairs must be 1 or more, and nothing may follow the flags\n")
		return errUsage
	}
	return nil
}

// settle holds the contests one after the other and prints a line for each.
func (o *options) settle(ctx context.Context, contests []contest, stdout io.Writer) error {
	for _, c := range contests {
		if !strings.Contains(c.name, o.only) {
			continue
		}
		ratios, err := c.ratios(ctx, o.pairs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		slices.Sort(ratios)
		fmt.Fprintf(stdout, "%-28s %.2f [%.2f, %.2f]   goal %s\n", c.name, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], c.goal)
	}
	return nil
}

// ratios are ours ÷ theirs of each pair. Who goes first alternates, so that a
// machine that drifts favours nobody.
func (c contest) ratios(ctx context.Context, pairs int) (list []float64, err error) {
	for i := range pairs {
		first, second := c.ours, c.theirs
		if i%2 == 1 {
			first, second = second, first
		}
		a, err := first(ctx)
		if err != nil {
			return nil, err
		}
		b, err := second(ctx)
		if err != nil {
			return nil, err
		}
		if i%2 == 1 {
			a, b = b, a
		}
		list = append(list, a/b)
	}
	return list, nil
}
