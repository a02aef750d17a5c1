package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

const (
	pingpongPayload = 64 // bytes
	warmup          = 250 * time.Millisecond
)

// table is what all games of ping-pong share: one client, one message in
// flight, the server in C on one CPU and the client of either side on another.
type table struct {
	program    string // the built pingpong
	plugin     string // that serves rawpoll
	host       *goplugin.Host
	serverCPU  int
	clientCPU  int
	measureFor time.Duration
}

// pingpong compares the p50 of our load with that of a client in C that does
// nothing else, both against the same server in C.
func pingpong(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var o options
	var t table
	fs := flag.NewFlagSet("bench pingpong", flag.ContinueOnError)
	fs.StringVar(&t.plugin, "plugin", "bin/plugins/rawpoll", "the built rawpoll `plugin`")
	fs.StringVar(&t.program, "peer", "bin/pingpong", "the built pingpong `program`")
	fs.DurationVar(&t.measureFor, "measure", time.Second, "counted time of a measurement, 1ms or more")
	if err := o.parse(fs, args, stderr); err != nil {
		return err
	}
	cpus, err := sysinfo.AllowedCPUs()
	if err != nil || len(cpus) < 2 {
		return errors.Join(fmt.Errorf("two CPUs are needed, one for either end; to use there are %v", cpus), err)
	}
	t.serverCPU, t.clientCPU = cpus[0], cpus[1]
	if t.host, err = goplugin.NewHost(""); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.host.Close()) }()

	var contests []contest
	for _, p := range []protocol.Protocol{tcp.Protocol(), udp.Protocol()} {
		for _, wait := range []string{cell.Busy, cell.Sleep} {
			contests = append(contests, contest{
				name:   p.Name + " " + wait,
				ours:   t.against(p, wait, t.load),
				theirs: t.against(p, wait, t.client),
				goal:   "1.1 or less",
			})
		}
	}
	fmt.Fprintf(stdout, "our load against a client in C, both with the server in C on another CPU, %d B, one in flight:\nratio of p50, median [min, max] of %d alternating pairs\n\n", pingpongPayload, o.pairs)
	return o.settle(ctx, contests, stdout)
}

// player measures the p50 in microseconds against a server at port.
type player func(ctx context.Context, p protocol.Protocol, wait, port string) (p50 float64, err error)

// against has a player meet a fresh server that waits as the player does.
func (t *table) against(p protocol.Protocol, wait string, play player) side {
	return func(ctx context.Context) (p50 float64, err error) {
		ctx, cancel := context.WithTimeout(ctx, t.measureFor+time.Minute)
		defer cancel()
		port, stop, err := t.serve(ctx, p, wait)
		if err != nil {
			return 0, err
		}
		defer stop()
		return play(ctx, p, wait, port)
	}
}

// serve starts the server in C.
func (t *table) serve(ctx context.Context, p protocol.Protocol, wait string) (port string, stop func(), err error) {
	server := exec.CommandContext(ctx, t.program, "server", p.Network, wait, strconv.Itoa(t.serverCPU))
	var complaint strings.Builder
	server.Stderr = &complaint
	stdout, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, fmt.Errorf("start the server in C: %w", err)
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait() // killed is how it ends
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "port ")
	if err != nil || !ok {
		stop()
		return "", nil, fmt.Errorf("the server in C says %q and %q instead of its port (%v)", line, &complaint, err)
	}
	return port, stop, nil
}

// client plays in C. Its messages are as long as ours are with their framing.
func (t *table) client(ctx context.Context, p protocol.Protocol, wait, port string) (p50 float64, err error) {
	out, err := output(ctx, t.program, "client", p.Network, wait, strconv.Itoa(t.clientCPU), port,
		strconv.Itoa(pingpongPayload+p.Overhead), millis(warmup), millis(t.measureFor))
	if err != nil {
		return 0, err
	}
	var f struct {
		P50 float64 `json:"p50_us"`
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return 0, fmt.Errorf("output of the client in C: %w", err)
	}
	return f.P50, nil
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// load plays with a plugin in role load, as the driver would run it.
func (t *table) load(ctx context.Context, p protocol.Protocol, wait, port string) (p50 float64, err error) {
	proc, err := t.host.Start(ctx, goplugin.Command{Name: "rawpoll", Path: t.plugin, CPUs: []int{t.clientCPU}, GOMAXPROCS: 1})
	if err != nil {
		return 0, err
	}
	defer proc.Kill()
	_, err = proc.Prepare(ctx, control.Setup{
		Role: control.RoleLoad, Threads: 1, IOModel: cell.Shared,
		Cell: cell.Cell{
			Runtime: "rawpoll", Execution: cell.Callback, IOModel: cell.Shared, Threads: 1, Protocol: p.Name,
			Payload: pingpongPayload, Clients: 1, Window: 1, Pattern: cell.Stream, Placement: cell.Split,
			LoadWait: wait, AddressFamily: cell.IPv4,
		},
		Targets: []control.Target{{Name: "pingpong", Addrs: []string{"127.0.0.1:" + port}}},
		Busy:    wait == cell.Busy, DrainFor: int64(10 * time.Second),
	})
	if err != nil {
		return 0, fmt.Errorf("prepare the load: %w", err)
	}
	res, err := proc.Measure(ctx, []control.Slice{
		{Length: int64(warmup)},
		{Length: int64(t.measureFor), Counted: true},
	})
	if err != nil {
		return 0, fmt.Errorf("measure with the load: %w", err)
	}
	return median(res)
}

// median is the p50 in microseconds of a result in which nothing went wrong.
func median(res control.Result) (float64, error) {
	y := res.Targets[0]
	if sent, received := y.Counts[control.CountSent], y.Counts[control.CountReceived]; sent != received || len(y.FirstErrors) > 0 {
		return 0, fmt.Errorf("of %d messages sent %d came back; first errors %q", sent, received, y.FirstErrors)
	}
	h, err := hist.Decode(y.RTT)
	if err != nil {
		return 0, err
	}
	if h.Count() == 0 {
		return 0, errors.New("no round trip within the time measured: the CPUs must be free of other work")
	}
	return float64(h.Percentile(50)) / 1e3, nil
}
