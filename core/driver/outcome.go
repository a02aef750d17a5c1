package driver

import (
	"fmt"
	"maps"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/record"
)

// checkResult refuses a result that no honest load can have: what does not fit
// the plan, or figures that contradict each other.
func checkResult(r control.Result, plan []control.Slice, targets int, open bool) error {
	if len(r.Slices) != len(plan) || len(r.Targets) != targets {
		return fmt.Errorf("%d slices and %d targets instead of %d and %d", len(r.Slices), len(r.Targets), len(plan), targets)
	}
	counted := make([]int64, targets)
	for i, s := range r.Slices {
		if s.End <= s.Start || s.RoundTrips < 0 || s.RTTSum < 0 || s.Served < 0 {
			return fmt.Errorf("slice %d: %+v", i, s)
		}
		if plan[i].Counted {
			counted[plan[i].Target] += s.RoundTrips
		}
	}
	for t, tally := range r.Targets {
		h, err := hist.Decode(tally.RTT)
		if err != nil {
			return fmt.Errorf("target %d: histogram: %w", t, err)
		}
		for k, n := range tally.Counts {
			if n < 0 {
				return fmt.Errorf("target %d: count %s is %d", t, k, n)
			}
		}
		if h.Count() > counted[t] {
			return fmt.Errorf("target %d: %d RTTs of %d round trips", t, h.Count(), counted[t])
		}
		if err := checkOpenLoop(tally, h.Count(), open); err != nil {
			return fmt.Errorf("target %d: %w", t, err)
		}
		if counted[t] > tally.Counts[control.CountReceived] {
			return fmt.Errorf("target %d: %d round trips counted, %d echoes received", t, counted[t], tally.Counts[control.CountReceived])
		}
	}
	return nil
}

// newRecord is a record of entrant e without figures.
func (d *Driver) newRecord(t Trial, e entrant, attempt int, status, reason string) record.Record {
	p := d.plugins[e.Runtime]
	place := d.place(t.Scenario)
	rec := record.Record{
		Schema: record.Schema, RunID: t.RunID, Suite: t.Suite, Group: t.Group,
		Round: t.Round, Order: t.Order, Attempt: attempt,
		StartedAt: now(), Status: status, Reason: reason, Cell: t.Scenario.With(e.Contender), Twin: e.twin,
		Validity: record.Validity{Verdict: "none", Flags: []string{}, Reasons: []string{}},
		Stack:    stack(p.Description.Stack, t.Scenario.Protocol),
		Provenance: record.Provenance{
			Command:      Command(t, e.Contender),
			DriverSHA256: d.driver, PluginSHA256: p.SHA256, LoadSHA256: d.plugins[d.load.Runtime].SHA256,
			SourceSHA256: orUnknown(p.Description.Source),
			GoVersion:    p.Description.GoVersion, Modules: p.Build.Modules, Build: p.Build.Settings,
			GOMAXPROCS: t.Scenario.Threads,
			CPUs:       record.CPUs{Server: place.server, Load: place.load},
			CPUSource:  cpuSource(),
			Seed:       t.Seed,
		},
	}
	if reason != "" {
		rec.Validity.Reasons = append(rec.Validity.Reasons, reason)
	}
	return rec
}

// stack keeps the layers that a protocol goes through.
func stack(all map[string]string, protocol string) map[string]string {
	layers := map[string][]string{
		"tcps": {"tls"}, "websocket": {"websocket"}, "wss": {"websocket", "tls"}, "http": {"http"}, "https": {"http", "tls"},
	}
	s := make(map[string]string)
	for _, layer := range append(layers[protocol], "event_loop") {
		if v, ok := all[layer]; ok {
			s[layer] = v
		}
	}
	return s
}

func orUnknown(s string) string {
	if s == "" {
		return unknownHash
	}
	return s
}

// record turns what was seen of entrant i into its record.
func (a *attempt) record(i int, e entrant, number int) record.Record {
	rec := a.d.newRecord(a.trial, e, number, record.OK, "")
	tally := a.result.Targets[i]
	cost := a.cost(i)
	rec.Metrics = a.metrics(tally, cost)
	if a.cell.Rate > 0 {
		rec.Metrics.OpenLoop = a.openLoop(i)
	}
	rec.Errors = maps.Clone(tally.Counts)
	for _, k := range []string{control.CountSent, control.CountReceived, control.CountReads, control.CountOverRange,
		control.CountUnsent, control.CountBlocked, control.CountTardy} {
		delete(rec.Errors, k)
	}
	rec.Messages = tally.FirstErrors
	server := a.process(a.servers[i], a.cell.Threads, cost.serverCPU, cost.serverWindow, cost.served)
	if a.cell.Placement == cell.Colocated {
		rec.Process = server
	} else {
		rec.Server = server
		rec.Server.TLS = a.load.ready.TLS
		rec.Load = a.process(a.load, a.place.loadThreads, cost.loadCPU, cost.elapsed, rec.Metrics.RoundTrips)
		rec.Load.WorkingPercent = ratio(cost.working, cost.elapsed, 100/float64(a.place.loadThreads))
		rec.Load.MessagesPerRead = ratio(tally.Counts[control.CountReceived], tally.Counts[control.CountReads], 1)
	}
	rec.Validity = a.validity(i, rec)
	if rec.Validity.Verdict == "invalid" {
		rec.Status, rec.Reason = record.Invalid, rec.Validity.Reasons[0]
	}
	return rec
}

// cost adds up the counted slices of one target; -1 in a sum that was not read.
type cost struct {
	elapsed                         int64 // counted time
	serverCPU, serverWindow, served int64 // what ServerCPU covers: time and round trips
	loadCPU, working                int64
	slices                          []record.Slice
}

func (a *attempt) cost(target int) cost {
	var c cost
	add := func(sum *int64, n int64) {
		if n < 0 || *sum < 0 {
			*sum = -1
			return
		}
		*sum += n
	}
	for i, s := range a.result.Slices {
		if !a.plan[i].Counted || a.plan[i].Target != target {
			continue
		}
		c.elapsed += s.End - s.Start
		c.serverWindow += a.plan[i].Length
		c.served += s.Served
		add(&c.serverCPU, s.ServerCPU)
		add(&c.loadCPU, s.LoadCPU)
		add(&c.working, s.Working)
		c.slices = append(c.slices, record.Slice{
			Start: s.Start, End: s.End, RoundTrips: s.RoundTrips,
			ServerCPU: s.ServerCPU, Served: s.Served, LoadCPU: s.LoadCPU, Working: s.Working,
		})
	}
	return c
}

func (a *attempt) metrics(t control.Tally, c cost) *record.Metrics {
	m := &record.Metrics{ElapsedSeconds: seconds(c.elapsed), Slices: c.slices, RTTHistogram: t.RTT, RTTFrom: record.FromSent, OverRange: t.Counts[control.CountOverRange]}
	if a.cell.Rate > 0 {
		m.RTTHistogram, m.RTTFrom = t.Intended, record.FromIntended
	}
	for _, s := range c.slices {
		m.RoundTrips += s.RoundTrips
	}
	m.RoundTripsPerSecond = float64(m.RoundTrips) / m.ElapsedSeconds
	m.PayloadMiBPerSecond = 2 * float64(a.cell.Payload) * m.RoundTripsPerSecond / (1 << 20)
	m.RTT = distribution(m.RTTHistogram)
	if m.RTT != nil {
		m.RTT.Max = micros(t.MaxRTT) // exact
	}
	return m
}

// distribution is what an encoded histogram, which was checked before, shows in
// microseconds; nil without samples.
func distribution(histogram []byte) *record.RTT {
	h, err := hist.Decode(histogram)
	if err != nil || h.Count() == 0 {
		return nil
	}
	at := func(p float64) *float64 {
		if !h.PercentileAllowed(p) {
			return nil
		}
		us := micros(h.Percentile(p))
		return &us
	}
	return &record.RTT{
		P50: at(50), P95: at(95), P99: at(99), P999: at(99.9),
		Max: micros(h.Max()), Mean: h.Mean() / 1e3, Count: h.Count(),
	}
}

// process is the cost of one process: its CPU time over a window of time and a
// number of round trips.
func (a *attempt) process(p *party, threads int, cpu, window, trips int64) *record.Process {
	r := &record.Process{
		PID: p.proc.PID(), Threads: threads, TLS: p.ready.TLS,
		SendBufferBytes: p.ready.Send, ReceiveBufferBytes: p.ready.Receive,
	}
	if cpu >= 0 {
		r.CPUSeconds = ratio(cpu, 1, 1e-9)
		r.CPUPercent = ratio(cpu, window, 100)
		r.CPUMicrosPerTrip = ratio(cpu, trips, 1e-3)
	}
	if p.peakRSS >= 0 {
		r.PeakRSSBytes = &p.peakRSS
	}
	diff := func(before, after int64) *int64 {
		if before < 0 || after < before {
			return nil
		}
		n := after - before
		return &n
	}
	r.GCCycles = diff(p.before.GCCycles, p.after.GCCycles)
	r.GCPauseNanos = diff(p.before.GCNanos, p.after.GCNanos)
	r.ContextSwitches = diff(p.before.Switches, p.after.Switches)
	if n := diff(p.before.Allocs, p.after.Allocs); n != nil {
		r.AllocsPerTrip = ratio(*n, trips, 1)
	}
	if m, n := diff(p.before.Messages, p.after.Messages), diff(p.before.Reads, p.after.Reads); p.entrant != nil && m != nil && n != nil {
		r.MessagesPerRead = ratio(*m, *n, 1)
	}
	return r
}

// validity says what the figures of contender i are good for.
func (a *attempt) validity(i int, rec record.Record) record.Validity {
	v := record.Validity{Verdict: "valid", Flags: []string{}, Reasons: a.faults(i, rec.Metrics), Others: a.others}
	if len(v.Reasons) > 0 {
		v.Verdict = "invalid"
	}
	cpus := a.d.serverCPUs(a.place)
	if cpus > 0 && a.cell.Threads > cpus {
		v.Flags = append(v.Flags, record.FlagOversubscribed)
	}
	if a.others != nil && a.others.Disturbed {
		v.Flags = append(v.Flags, record.FlagDisturbed)
	}
	if stalled(rec.Metrics.Slices) {
		v.Flags = append(v.Flags, record.FlagStalled)
	}
	// Of an open loop the throughput is no bound: it is what was offered, or the
	// trial is invalid.
	if a.cell.Rate == 0 && rec.Load != nil && rec.Load.WorkingPercent != nil && *rec.Load.WorkingPercent > loadBoundPercent &&
		rec.Server.CPUPercent != nil && *rec.Server.CPUPercent < saturatedPercent*float64(min(a.cell.Threads, max(cpus, 1))) {
		v.Flags = append(v.Flags, record.FlagLoadBound)
	}
	return v
}

// A load with work in hand for more of its time than this, and a server that
// used less of its CPUs than that, mean that the load was the limit.
const (
	loadBoundPercent = 80
	saturatedPercent = 90
)

// stalled reports whether a slice passed without an echo although the trial as a
// whole had at least ten for each.
func stalled(counted []record.Slice) bool {
	var trips int64
	empty := false
	for _, s := range counted {
		trips += s.RoundTrips
		empty = empty || s.RoundTrips == 0
	}
	return empty && trips >= 10*int64(len(counted))
}

// lossLimitPercent is the share of datagrams that may be lost. Whatever is lost
// holds its place in the window until it is given up, so beyond this the figures
// are of waiting and not of the runtime.
const lossLimitPercent = 1

// faults are the things that must hold of contender i and do not.
func (a *attempt) faults(i int, m *record.Metrics) []string {
	list := []string{}
	s, tally := a.servers[i], a.result.Targets[i]
	n := tally.Counts
	for _, k := range []string{control.CountContent, control.CountOrder, control.CountDuplicate, control.CountDisconnects, control.CountUnfinished} {
		if n[k] == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n[k], k)
		if len(tally.FirstErrors) > 0 && k != control.CountUnfinished {
			text += " (" + tally.FirstErrors[0] + ")"
		}
		list = append(list, text)
	}
	if lost, sent := n[control.CountLost], n[control.CountSent]; lost*100 > sent*lossLimitPercent {
		text := fmt.Sprintf("%d of %d datagrams were lost (%.2f %%), over the limit of %d %%",
			lost, sent, 100*float64(lost)/float64(sent), lossLimitPercent)
		if late := n[control.CountLate]; late > 0 {
			text += fmt.Sprintf("; %d of them were answered, but later than %v", late, lossAfter)
		}
		list = append(list, text)
	}
	if s.before.Accepted >= 0 && (s.before.Accepted != int64(a.cell.Clients) || s.before.Live != int64(a.cell.Clients)) {
		list = append(list, fmt.Sprintf("the server accepted %d connections, %d live, instead of %d", s.before.Accepted, s.before.Live, a.cell.Clients))
	}
	if answered := s.after.Messages - s.before.Messages; s.before.Messages >= 0 && (answered < n[control.CountReceived] || answered > n[control.CountSent]) {
		list = append(list, fmt.Sprintf("the server answered %d messages, but the load sent %d and had %d echoes", answered, n[control.CountSent], n[control.CountReceived]))
	}
	if m.OpenLoop != nil {
		list = append(list, a.offBeat(n, m)...)
	}
	if why := a.unlawful(i); why != "" {
		list = append(list, why)
	}
	if m.RoundTrips == 0 {
		list = append(list, "no echo arrived within the counted time")
	}
	return list
}

func ratio(a, b int64, scale float64) *float64 {
	if a < 0 || b <= 0 {
		return nil
	}
	x := float64(a) / float64(b) * scale
	return &x
}

func seconds(nanos int64) float64 { return float64(nanos) / 1e9 }
func micros(nanos int64) float64  { return float64(nanos) / 1e3 }
