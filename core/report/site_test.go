package report_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

var rawpollGoroutine = cell.Contender{Runtime: "rawpoll", Execution: cell.Goroutine}

// ioModels are those of the reference.
var ioModels = []cell.Cell{
	{IOModel: cell.Shared, Threads: 1}, {IOModel: cell.Shared, Threads: 2}, {IOModel: cell.Shared, Threads: 4},
	{IOModel: cell.Sharded, Threads: 2}, {IOModel: cell.Sharded, Threads: 4},
}

// plan lays out a run: every scenario in every round, contenders side by side,
// or one by one where they are colocated.
func plan(run *record.Run, scenarios []cell.Cell, contenders ...cell.Contender) {
	for round := 1; round <= run.Rounds; round++ {
		for i, s := range scenarios {
			add := func(k ...cell.Contender) {
				run.Schedule = append(run.Schedule, record.Trial{Order: len(run.Schedule) + 1, Round: round,
					Group: fmt.Sprintf("r%d-%d", round, i), Scenario: s, Contenders: k})
			}
			if s.Placement == cell.Split {
				add(contenders...)
				continue
			}
			for _, k := range contenders {
				add(k)
			}
		}
	}
}

// carryOut makes up a record for every trial of a run, ok unless spoil changes
// it. Figures are those of a machine of which nobody measured a thing; the same
// cell and round always have the same.
func carryOut(run *record.Run, spoil func(*record.Record)) []record.Record {
	var recs []record.Record
	for _, t := range run.Schedule {
		for _, k := range t.Contenders {
			r := simulate(t.Scenario.With(k), t.Round)
			r.RunID, r.Suite, r.Group, r.Order = run.RunID, run.Suite, t.Group, t.Order
			r.StartedAt = fmt.Sprintf("2026-10-10T06:%02d:%02d.5Z", t.Order/60, t.Order%60)
			if spoil != nil {
				spoil(&r)
			}
			recs = append(recs, r)
		}
	}
	return recs
}

// speed is a contender's made-up round trips/s on one thread.
var speed = map[cell.Contender]float64{coroutine: 300e3, rawpoll: 430e3, rawpollGoroutine: 340e3, stdnet: 295e3, netpoll: 380e3}

func simulate(c cell.Cell, round int) record.Record {
	h := fnv.New64a()
	fmt.Fprint(h, c, round)
	chance := rand.New(rand.NewPCG(h.Sum64(), 1))
	near := func(v float64) float64 { return math.Round(v*(0.97+0.06*chance.Float64())*1000) / 1000 }

	inFlight := float64(c.Clients * c.Window)
	rate := speed[c.Contender()] * min(1, 0.2+inFlight/64) * math.Pow(float64(c.Threads), 0.6)
	rate = math.Round(near(rate / (1 + float64(c.Work)/2000)))
	p50 := near(inFlight / rate * 1e6)
	p95, p99, p999 := near(p50*1.3), near(p50*1.7), near(p50*4)
	percent := near(97 * float64(c.Threads))
	cost, reads, rss := percent*1e4/rate, near(float64(c.Window)), int64(near(14e6))
	process := &record.Process{CPUPercent: &percent, CPUMicrosPerTrip: &cost, PeakRSSBytes: &rss, Threads: c.Threads, MessagesPerRead: &reads, SendBufferBytes: 87040, ReceiveBufferBytes: 131072}
	r := record.Record{Schema: record.Schema, Round: round, Attempt: 1, Status: record.OK, Cell: c,
		Metrics: &record.Metrics{ElapsedSeconds: 1, RoundTrips: int64(rate), RoundTripsPerSecond: rate, PayloadMiBPerSecond: 2 * float64(c.Payload) * rate / (1 << 20),
			RTT: &record.RTT{P50: &p50, P95: &p95, P99: &p99, P999: &p999, Max: p999 * 3, Mean: p50, Count: int64(rate)}},
		Errors:   map[string]int64{"lost": 0, "unfinished": 0},
		Validity: record.Validity{Verdict: "valid", Flags: []string{}, Reasons: []string{}},
		Stack:    map[string]string{"event_loop": c.Runtime + "@v1.0.0"},
		Provenance: record.Provenance{Command: fmt.Sprintf("netmatrix bench --runtime %s --execution %s --seed %d", c.Runtime, c.Execution, 7+round),
			DriverSHA256: "d0", PluginSHA256: "f00d-" + c.Runtime, LoadSHA256: "f00d-rawpoll", SourceSHA256: "50a4ce", GoVersion: "go1.26.8",
			CPUSource: "clock_gettime, process CPU clock", CPUs: record.CPUs{Server: []int{0, 1, 2, 3}}},
	}
	if c.Placement == cell.Colocated {
		r.Process = process
		return r
	}
	r.Server, r.Provenance.CPUs = process, record.CPUs{Server: []int{0, 1}, Load: []int{2, 3}}
	return r
}

// fail turns a record into one without figures.
func fail(r *record.Record, status, reason string) {
	r.Status, r.Reason, r.Metrics, r.Server, r.Process = status, reason, nil, nil, nil
	r.Validity = record.Validity{Verdict: "none", Flags: []string{}, Reasons: []string{reason}}
}

func machineFacts() sysinfo.Facts {
	cores, memory, irq := 4, int64(16<<30), true
	return sysinfo.Facts{Model: "Small_Box 3", CPU: "Some CPU", Architecture: "amd64", PhysicalCores: &cores, LogicalCores: &cores, MemoryBytes: &memory,
		OS: "Linux 1 (build 2)", Kernel: "6.1.0", Power: "ac", Governor: "performance", IRQTimeAccounting: &irq,
		Warnings: []string{"hypervisor: /proc/cpuinfo: no such file"}}
}

func newRun(id, suite, contrast string, contenders ...cell.Contender) *record.Run {
	run := &record.Run{Schema: record.Schema, RunID: id, StartedAt: "2026-10-10T06:00:00Z", Command: "netmatrix run --suite " + suite, Suite: suite, Contrast: contrast,
		Baseline: coroutine, Seed: 7, Rounds: 3, WarmupNanos: 250e6, MeasureNanos: 1e9, Environment: machineFacts()}
	for _, k := range contenders {
		if !slices.ContainsFunc(run.Plugins, func(p record.Plugin) bool { return p.Name == k.Runtime }) {
			run.Plugins = append(run.Plugins, record.Plugin{Name: k.Runtime, Path: "bin/plugins/" + k.Runtime, SHA256: "f00d-" + k.Runtime, Version: k.Runtime + "@v1.0.0", GoVersion: "go1.26.8"})
		}
	}
	return run
}

// twoRuns are what a site is made from: the IO models of tcp, colocated and
// complete; and executions over tcp and udp, split, with everything that can go
// wrong, interrupted before the end.
func twoRuns() []compare.Results {
	colocated := newRun("20261010-0600", "colocated", "io_model", coroutine, rawpoll)
	var scenarios []cell.Cell
	for _, traffic := range []int{1, 16} {
		for _, m := range ioModels {
			c := scenario("tcp")
			c.Clients, c.Window, c.Placement, c.LoadWait = traffic, traffic, cell.Colocated, cell.Sleep
			c.IOModel, c.Threads = m.IOModel, m.Threads
			scenarios = append(scenarios, c)
		}
	}
	plan(colocated, scenarios, coroutine, rawpoll)
	first := carryOut(colocated, func(r *record.Record) {
		switch {
		case r.Cell.Runtime == "coroutine" && r.Cell.IOModel == cell.Sharded:
			fail(r, record.Unsupported, "package net has one runtime poller for the whole process")
		case r.Cell.Runtime == "rawpoll" && r.Cell.IOModel == cell.Sharded && r.Cell.Threads == 4 && r.Cell.Clients == 1:
			r.Validity.Flags = []string{record.FlagOversubscribed}
		}
	})

	contenders := []cell.Contender{rawpoll, rawpollGoroutine, stdnet, coroutine, netpoll}
	execution := newRun("20261012-0700", "execution", "execution", contenders...)
	execution.Environment.Governor = ""
	stream, batch, udp := scenario("tcp"), scenario("tcp"), scenario("udp")
	batch.Pattern, udp.Window = cell.Batch, 1
	plan(execution, []cell.Cell{stream, batch, udp}, contenders...)
	second := carryOut(execution, func(r *record.Record) {
		switch c := r.Cell; {
		case c.Runtime == "netpoll" && c.Protocol == "udp":
			fail(r, record.Unsupported, "netpoll has no udp: the library | has <none>")
		case c.Runtime == "netpoll" && c.Pattern == cell.Batch:
			fail(r, record.Failed, "plugin gone while it measured:\nexit status 2")
		case c.Contender() == stdnet && c.Pattern == cell.Stream && c.Protocol == "tcp" && r.Round == 2:
			r.Status, r.Reason, r.Validity.Verdict = record.Invalid, "3 unfinished", "invalid"
			r.Errors["unfinished"] = 3
		case c.Contender() == rawpoll && c.Protocol == "udp":
			r.Validity.Flags = []string{record.FlagLoadBound}
			r.Errors["lost"] = 1200
		}
	})
	last := len(second) - 5
	return []compare.Results{{Dir: "results/colocated", Run: colocated, Records: first}, {Dir: "results/execution", Run: execution, Records: second[:last]}}
}

// keep stores results, to be read by what knows nothing of them, and returns
// the folder.
func keep(t testing.TB, res compare.Results) string {
	t.Helper()
	dir := t.TempDir()
	store, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.WriteRun(res.Run); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(res.Records...); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
