package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/netmatrix/netmatrix/core/record"
)

// scene is one colocated tcp cell.
type scene struct {
	payload, clients, window int
	ioModel                  string
	threads                  int
	goal                     string
}

func (s scene) String() string {
	return fmt.Sprintf("%d B, %d × %d, %s × %d", s.payload, s.clients, s.window, s.ioModel, s.threads)
}

var scenes = []scene{
	{64, 16, 16, "shared", 1, "1.2"},
	{64, 16, 16, "sharded", 2, "1.2"},
	{1024, 16, 16, "shared", 1, "1.2"},
	{1024, 16, 16, "sharded", 2, "1.2"},
	{16384, 16, 16, "shared", 1, "1.2"},
	{64, 1, 1, "shared", 1, "1.1"},
}

// asio compares the round trips that a CPU second pays for: both sides use all
// of the CPU they get, so that figure is what either costs.
func asio(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	fs := flag.NewFlagSet("bench asio", flag.ContinueOnError)
	ours := fs.String("netmatrix", "bin/netmatrix", "the netmatrix `command`")
	theirs := fs.String("peer", "bin/asio_loop", "the built asio_loop `program`")
	if err := o.parse(fs, args, stderr); err != nil {
		return err
	}
	var contests []contest
	for _, s := range scenes {
		contests = append(contests, contest{
			name:   s.String(),
			ours:   func(ctx context.Context) (float64, error) { return s.netmatrix(ctx, *ours) },
			theirs: func(ctx context.Context) (float64, error) { return s.peer(ctx, *theirs) },
			goal:   s.goal + " or more",
		})
	}
	fmt.Fprintf(stdout, "rawpoll/callback against Asio, colocated tcp: ratio of round trips per CPU second,\nmedian [min, max] of %d alternating pairs\n\n", o.pairs)
	return o.settle(ctx, contests, stdout)
}

func (s scene) netmatrix(ctx context.Context, path string) (perCPUSecond float64, err error) {
	out, err := output(ctx, path, "bench", "--runtime", "rawpoll/callback", "--placement", "colocated",
		"--payload", strconv.Itoa(s.payload), "--clients", strconv.Itoa(s.clients), "--window", strconv.Itoa(s.window),
		"--io-model", s.ioModel, "--threads", strconv.Itoa(s.threads))
	if err != nil {
		return 0, err
	}
	var rec record.Record
	if err := json.Unmarshal(out, &rec); err != nil {
		return 0, fmt.Errorf("record of %s: %w", path, err)
	}
	return float64(rec.Metrics.RoundTrips) / *rec.Process.CPUSeconds, nil
}

func (s scene) peer(ctx context.Context, path string) (perCPUSecond float64, err error) {
	out, err := output(ctx, path, strconv.Itoa(s.payload), strconv.Itoa(s.clients), strconv.Itoa(s.window), s.ioModel, strconv.Itoa(s.threads), "1")
	if err != nil {
		return 0, err
	}
	var f struct {
		RoundTrips float64 `json:"roundtrips"`
		CPUSeconds float64 `json:"cpu_seconds"`
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return 0, fmt.Errorf("output of %s: %w", path, err)
	}
	return f.RoundTrips / f.CPUSeconds, nil
}
