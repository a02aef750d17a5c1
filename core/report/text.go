// Package report turns records into something to read. It knows nothing but
// records and what core/compare makes of them. One file a format.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// Options say what the terminal can do.
type Options struct {
	Width int  // columns; default 100. Below 90 the payload column is left out
	Color bool // use escape sequences
	// Next is the command that makes pages of the run; default: its general form.
	Next string
}

// Text writes what stands at the end of `netmatrix run`: how much of the plan
// was done, the machine, a table for each scenario, and what to do next.
func Text(w io.Writer, run *record.Run, recs []record.Record, opt Options) error {
	if opt.Width <= 0 {
		opt.Width = 100
	}
	if opt.Next == "" {
		opt.Next = "netmatrix report RESULTS --format md --out DIR"
	}
	all := []compare.Results{{Run: run, Records: recs}}
	rows := compare.Rows(all)
	p := &page{opt: opt}
	p.header(all)
	for _, s := range compare.Scenarios(rows) {
		p.scenario(s)
	}
	p.next()
	if _, err := io.WriteString(w, p.out.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// page is a text report in the making.
type page struct {
	out strings.Builder
	opt Options
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(&p.out, format+"\n", args...)
}

// wrapped writes s broken at the width.
func (p *page) wrapped(s string) { p.line("%s", wrap(s, p.opt.Width)) }

// grid writes g.
func (p *page) grid(g grid) { p.out.WriteString(g.String(p.paint)) }

// paint colours s where the terminal can.
func (p *page) paint(s string, c colour) string {
	if !p.opt.Color || c == "" {
		return s
	}
	return string(c) + s + reset
}

// header is about the one run of all.
func (p *page) header(all []compare.Results) {
	run := all[0].Run
	p.line("%s", p.paint(fmt.Sprintf("netmatrix %s, suite %s", run.RunID, run.Suite), bold))
	t := tallyOf(all)
	p.line("%d of %d planned trials done", t.done, len(run.Schedule))
	p.wrapped(machine(run))
	p.wrapped("records, one for each contender of a trial and its twin: " + t.records())
	p.wrapped(noiseFloor(all, run))
}

// next says how to go on. The command is not broken, so that it can be copied.
func (p *page) next() {
	p.line("")
	p.line("As pages with every figure, its range and its command:")
	p.line("  %s", p.opt.Next)
}

// machine describes in one line where a run took place.
func machine(run *record.Run) string {
	f := run.Environment
	var parts []string
	add := func(format string, v any) {
		if s := fmt.Sprintf(format, v); v != "" {
			parts = append(parts, s)
		}
	}
	add("%s", f.Model)
	add("%s", f.CPU)
	add("%s", f.Architecture)
	if f.PhysicalCores != nil && f.LogicalCores != nil {
		parts = append(parts, fmt.Sprintf("%d physical, %d logical cores", *f.PhysicalCores, *f.LogicalCores))
	}
	if f.MemoryBytes != nil {
		add("%s GiB", digits3(round3(float64(*f.MemoryBytes)/(1<<30))))
	}
	add("%s", f.OS)
	add("kernel %s", f.Kernel)
	add("on %s power", f.Power)
	add("governor %s", f.Governor)
	add("hypervisor %s", f.Hypervisor)
	add("CI %s", f.CI)
	if f.CPUQuota != nil {
		add("limited to %s CPUs", digits3(round3(*f.CPUQuota)))
	}
	return "machine: " + strings.Join(parts, ", ")
}

// scenario writes the block of one scenario.
func (p *page) scenario(s compare.Group) {
	p.line("")
	p.line("%s", p.paint(title(s.Cell), bold))
	p.wrapped(measured(s.Cell) + ". Medians over trials, [min, max] beneath")
	p.line("")
	p.table(s)
	p.ratios(s)
	p.notes(s)
}

// title names a group by what its rows share.
func title(c cell.Cell) string {
	clients := "clients"
	if c.Clients == 1 {
		clients = "client"
	}
	parts := []string{c.Protocol, cell.Bytes(c.Payload) + " payload", fmt.Sprintf("%d %s × window %d", c.Clients, clients, c.Window)}
	if c.IOModel != "" {
		parts = append(parts, ioModel(c))
	}
	if c.Work > 0 {
		parts = append(parts, fmt.Sprintf("work %d", c.Work))
	}
	if c.Rate > 0 {
		parts = append(parts, counts.format(c.Rate)+" round trips/s offered")
	}
	parts = append(parts, c.Pattern, c.Placement)
	if c.Placement == cell.Split && c.LoadWait == cell.Sleep {
		parts = append(parts, "load sleeps")
	}
	if c.AddressFamily == cell.IPv6 {
		parts = append(parts, c.AddressFamily)
	}
	return strings.Join(parts, ", ")
}

func ioModel(c cell.Cell) string { return fmt.Sprintf("%s × %d", c.IOModel, c.Threads) }

// measured says what the figures of a scenario are figures of.
func measured(c cell.Cell) string {
	unit := "message"
	if c.Pattern == cell.Batch {
		unit = "batch"
	}
	s := fmt.Sprintf("closed loop: RTT per %s with %d in flight, queueing and work included", unit, c.Clients*c.Window)
	if c.Rate > 0 {
		s = fmt.Sprintf("open loop: %s round trips/s offered, RTT per %s from the time at which it was to be sent, waiting for a place in the window and work included", counts.format(c.Rate), unit)
	}
	if c.Placement == cell.Split && c.LoadWait != "" {
		s += "; the load " + map[string]string{cell.Busy: "polls", cell.Sleep: "sleeps"}[c.LoadWait] + " while it waits"
	}
	return s
}
