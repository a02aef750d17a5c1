// Command bench measures rawpoll against programs in other languages that do the
// same, in alternating pairs, and prints the ratios.
//
//	go run ./bench asio      round trips per CPU second, colocated tcp, against Asio
//	go run ./bench pingpong  p50 of our load against that of a client in C
//
// Both want the built programs: make bench builds them and runs both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage has been explained on stderr.
var errUsage = errors.New("usage")

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	var compare func(context.Context, []string, io.Writer, io.Writer) error
	switch name {
	case "asio":
		compare = asio
	case "pingpong":
		compare = pingpong
	default:
		fmt.Fprintln(stderr, "usage: bench asio|pingpong [flags]; -h after either lists its flags")
		return 2
	}
	switch err := compare(ctx, args, stdout, stderr); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// output is what a program prints; its error tells what it complained of.
func output(ctx context.Context, path string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, path, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", path, err, exit.Stderr)
	}
	return out, err
}
