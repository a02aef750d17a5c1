// Command netmatrix compares Go network runtimes: it runs every cell of a
// matrix in fresh processes and reports only what the numbers allow.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTrials      = 3 // finished; some trials failed, are invalid or (bench) unsupported
	exitConformance = 4 // verify: a rule is broken
	exitGate        = 5 // ab: the gate found a regression
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command, for main and for tests.
func run(args []string, stdout, stderr io.Writer) int {
	// A reader that closes stdout early (| head) must not end us on the spot:
	// plugins are to be stopped and records kept.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once; the plugins die with it

	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return exitCode(ctx, root.ExecuteContext(ctx), stderr)
}

// endings are the signals that end a run in good order. One that our parent has
// chosen to ignore, as nohup does, stays ignored.
func endings() []os.Signal {
	list := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

func exitCode(ctx context.Context, err error, stderr io.Writer) int {
	var trials *trialsError
	var conformance *conformanceError
	var gate *gateError
	var bad *matrix.Error
	var illegal *cell.Error
	var usage *usageError
	var config *driver.ConfigError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "netmatrix: interrupted")
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // whoever read stdout has gone and wants no message
	case errors.As(err, &trials):
		fmt.Fprintln(stderr, "netmatrix:", err)
		return exitTrials
	case errors.As(err, &gate):
		fmt.Fprintln(stderr, "netmatrix:", err)
		if len(gate.breached) > 0 {
			return exitGate
		}
		return exitTrials
	case errors.As(err, &conformance):
		fmt.Fprintln(stderr, "netmatrix:", err)
		return exitConformance
	case errors.As(err, &bad), errors.As(err, &illegal), errors.As(err, &usage), errors.As(err, &config):
		fmt.Fprintln(stderr, "netmatrix:", err)
		return exitUsage
	case isCobraUsage(err):
		fmt.Fprintf(stderr, "netmatrix: %v\nSee 'netmatrix --help'.\n", err)
		return exitUsage
	}
	fmt.Fprintln(stderr, "netmatrix:", err)
	return exitFailed
}

// usageError is a mistake in how the command was called.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// isCobraUsage recognises the errors that cobra itself makes of a command line,
// which have no type.
func isCobraUsage(err error) bool {
	for _, s := range []string{"unknown command", "required flag"} {
		if strings.HasPrefix(err.Error(), s) {
			return true
		}
	}
	return false
}

// unknownCommand refuses what comes where a command should stand.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	help := "see 'netmatrix --help'"
	if names := c.SuggestionsFor(args[0]); len(names) > 0 {
		help = "did you mean " + strings.Join(names, " or ") + "?"
	}
	return usagef("there is no command %q: %s", args[0], help)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:                        "netmatrix",
		SuggestionsMinimumDistance: 2,
		Short:                      "Compare Go network runtimes, IO models, callbacks and goroutines",
		Long: `netmatrix answers which network runtime, which IO model, callbacks or
goroutines, for a given load. It runs every cell of a matrix in fresh
processes and reports only what the numbers allow.

Exit codes: 0 all good, 1 it failed, 2 usage or config, 3 finished but some
trials failed or are invalid (bench: or unsupported), 4 a plugin breaks the
contract, 5 the gate found a regression, 130 interrupted with results kept.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%v\nSee '%s --help'.", err, c.CommandPath())
	})
	root.AddCommand(newRun(), newResume(), newPlan(), newBench(), newReport(), newCompare(), newAB(), newRuntimes(), newVerify(), newDoctor())
	return root
}
