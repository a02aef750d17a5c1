package main

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/matrix"
)

// cellFlags are the axes as flags, and how long a cell is measured; strings
// where a size may be spelt with a unit.
type cellFlags struct {
	payload                string
	cell                   cell.Cell
	execution              string
	warmup, measure        time.Duration
	seed                   uint64
	sendBuffer, recvBuffer string
}

// add gives a command the flags.
func (f *cellFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.execution, "execution", "", "callback or goroutine, for runtimes given without; default: what the runtime has, callback first")
	fl.StringVar(&f.cell.Protocol, "protocol", "tcp", "tcp, udp, websocket, tcps, wss, http or https")
	fl.StringVar(&f.payload, "payload", "1024", "`bytes` of a message; 16KiB and 1MiB are understood")
	fl.IntVar(&f.cell.Clients, "clients", 16, "connections")
	fl.IntVar(&f.cell.Window, "window", 16, "most messages in flight on one connection")
	fl.StringVar(&f.cell.IOModel, "io-model", cell.Shared, "shared or sharded")
	fl.IntVar(&f.cell.Threads, "threads", 1, "IO threads of the server")
	fl.Int64Var(&f.cell.Work, "work", 0, "`operations` the server does for each echo")
	fl.Float64Var(&f.cell.Rate, "rate", 0, "round trips a `second` to offer over all clients, an open loop; 0: as fast as answers come")
	fl.StringVar(&f.cell.Pattern, "pattern", cell.Stream, "stream or batch")
	fl.StringVar(&f.cell.Placement, "placement", cell.Split, "split or colocated")
	fl.StringVar(&f.cell.LoadWait, "load-wait", cell.Busy, "whether the load polls (busy) or sleeps (sleep)")
	fl.StringVar(&f.cell.AddressFamily, "address-family", cell.IPv4, "ipv4 or ipv6")
	fl.DurationVar(&f.warmup, "warmup", 250*time.Millisecond, "warm-up for each contender")
	fl.DurationVar(&f.measure, "measure", time.Second, "counted time for each contender")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of message bodies and order; 0: a new one")
	fl.StringVar(&f.sendBuffer, "send-buffer", "0", "socket send buffer to ask for, `bytes`; 0: the kernel's own")
	fl.StringVar(&f.recvBuffer, "receive-buffer", "0", "socket receive buffer to ask for, `bytes`; 0: the kernel's own")
	for _, axis := range []string{"execution", "protocol", "io_model", "pattern", "placement", "load_wait", "address_family"} {
		_ = c.RegisterFlagCompletionFunc(strings.ReplaceAll(axis, "_", "-"), cobra.FixedCompletions(cell.Values(axis), cobra.ShellCompDirectiveNoFileComp))
	}
}

// trial is the trial that the flags ask for, without its contenders, checked as
// far as it goes.
func (f *cellFlags) trial() (driver.Trial, error) {
	t := driver.Trial{Order: 1, Round: 1, Warmup: f.warmup, Measure: f.measure, Seed: f.seed}
	var err error
	for _, size := range []struct {
		flag, text string
		into       *int
	}{{"payload", f.payload, &f.cell.Payload}, {"send-buffer", f.sendBuffer, &t.SendBuffer}, {"receive-buffer", f.recvBuffer, &t.RecvBuffer}} {
		if *size.into, err = matrix.ParseBytes(size.text); err != nil {
			return t, usagef("--%s: %v", size.flag, err)
		}
	}
	if f.warmup < 0 || f.measure < 10*time.Millisecond || f.measure > time.Hour || f.warmup > time.Hour {
		return t, usagef("--warmup %v --measure %v: warm-up lies within 0 and 1h, measuring within 10ms and 1h", f.warmup, f.measure)
	}
	if t.Seed == 0 {
		t.Seed = rand.Uint64()
	}
	f.cell = f.cell.Canonical()
	t.Scenario = f.cell
	// Any contender will do to check the other axes before a process starts.
	probe := f.cell.With(cell.Contender{Runtime: "any", Execution: cmp.Or(f.execution, cell.Callback)})
	return t, probe.Validate()
}
