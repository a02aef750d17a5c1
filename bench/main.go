// Command bench measures colocated tcp cells of rawpoll against the same echo
// over Asio, in alternating pairs, and prints the ratios of round trips per CPU
// second. Both use all of the CPU they get, so that figure is what either costs.
//
//	go run ./bench -netmatrix bin/netmatrix -asio /tmp/asio_loop -pairs 15
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/record"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// scene is one workload and the ratio it is meant to reach.
type scene struct {
	payload, clients, window int
	ioModel                  string
	threads                  int
	goal                     float64
}

func (s scene) String() string {
	return fmt.Sprintf("%d B, %d × %d, %s × %d", s.payload, s.clients, s.window, s.ioModel, s.threads)
}

var scenes = []scene{
	{64, 16, 16, "shared", 1, 1.2},
	{64, 16, 16, "sharded", 2, 1.2},
	{1024, 16, 16, "shared", 1, 1.2},
	{1024, 16, 16, "sharded", 2, 1.2},
	{16384, 16, 16, "shared", 1, 1.2},
	{64, 1, 1, "shared", 1, 1.1},
}

// figures are what one run of either side shows.
type figures struct {
	RoundTrips float64 `json:"roundtrips"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

func (f figures) perCPUSecond() float64 { return f.RoundTrips / f.CPUSeconds }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	ours := fs.String("netmatrix", "bin/netmatrix", "the netmatrix `command`")
	asio := fs.String("asio", "bin/asio_loop", "the built asio_loop `program`")
	pairs := fs.Int("pairs", 15, "alternating pairs of each workload")
	only := fs.String("only", "", "only workloads whose description contains this `text`")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Fprintf(stdout, "rawpoll/callback against Asio, colocated tcp: ratio of round trips per CPU second,\nmedian [min, max] of %d alternating pairs\n\n", *pairs)
	for _, s := range scenes {
		if !strings.Contains(s.String(), *only) {
			continue
		}
		ratios, err := measure(ctx, s, *pairs, *ours, *asio)
		if err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		slices.Sort(ratios)
		fmt.Fprintf(stdout, "%-28s %.2f [%.2f, %.2f]   goal %.1f\n", s, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], s.goal)
	}
	return 0
}

func measure(ctx context.Context, s scene, pairs int, ours, asio string) ([]float64, error) {
	var ratios []float64
	for i := range pairs {
		var a, b figures
		first, second := func() error { return netmatrix(ctx, s, ours, &a) }, func() error { return peer(ctx, s, asio, &b) }
		if i%2 == 1 {
			first, second = second, first
		}
		if err := errors.Join(first(), second()); err != nil {
			return nil, err
		}
		ratios = append(ratios, a.perCPUSecond()/b.perCPUSecond())
	}
	return ratios, nil
}

func netmatrix(ctx context.Context, s scene, path string, f *figures) error {
	out, err := output(ctx, path, "bench", "--runtime", "rawpoll/callback", "--placement", "colocated",
		"--payload", strconv.Itoa(s.payload), "--clients", strconv.Itoa(s.clients), "--window", strconv.Itoa(s.window),
		"--io-model", s.ioModel, "--threads", strconv.Itoa(s.threads))
	if err != nil {
		return err
	}
	var rec record.Record
	if err := json.Unmarshal(out, &rec); err != nil {
		return fmt.Errorf("record of %s: %w", path, err)
	}
	f.RoundTrips, f.Seconds, f.CPUSeconds = float64(rec.Metrics.RoundTrips), rec.Metrics.ElapsedSeconds, *rec.Process.CPUSeconds
	return nil
}

func peer(ctx context.Context, s scene, path string, f *figures) error {
	out, err := output(ctx, path, strconv.Itoa(s.payload), strconv.Itoa(s.clients), strconv.Itoa(s.window), s.ioModel, strconv.Itoa(s.threads), "1")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, f); err != nil {
		return fmt.Errorf("output of %s: %w", path, err)
	}
	return nil
}

func output(ctx context.Context, path string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, path, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", path, err, exit.Stderr)
	}
	return out, err
}
