package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// unknown stands for what the machine did not tell.
const unknown = "not known"

// conditions are the tables of machine, settings and plugins.
func (s *site) conditions(d *document) {
	var rows [][]string
	for _, c := range circumstances {
		rows = append(rows, []string{c.name, s.perRun(c.of)})
	}
	d.table("ll", []string{"condition", "value"}, rows)
	d.list(distinctWarnings(s.all))
	d.table("llll", []string{"plugin", "library", "Go", "SHA-256"}, s.plugins())
}

// circumstances are what a reader must know to repeat a run.
var circumstances = []struct {
	name string
	of   func(compare.Results) string
}{
	{"model", func(r compare.Results) string { return r.Run.Environment.Model }},
	{"CPU", func(r compare.Results) string { return r.Run.Environment.CPU }},
	{"architecture", func(r compare.Results) string { return r.Run.Environment.Architecture }},
	{"physical / logical cores", func(r compare.Results) string {
		return number(r.Run.Environment.PhysicalCores) + " / " + number(r.Run.Environment.LogicalCores)
	}},
	{"memory", memory},
	{"operating system", func(r compare.Results) string { return r.Run.Environment.OS }},
	{"kernel", func(r compare.Results) string { return r.Run.Environment.Kernel }},
	{"power", func(r compare.Results) string { return r.Run.Environment.Power }},
	{"frequency governor", func(r compare.Results) string { return r.Run.Environment.Governor }},
	{"hypervisor", func(r compare.Results) string { return r.Run.Environment.Hypervisor }},
	{"CI service", func(r compare.Results) string { return orWord(r.Run.Environment.CI, "none") }},
	{"CPUs granted by the control group", quota},
	{"time of interrupts", interrupts},
	{"Go of the plugins", func(r compare.Results) string {
		return strings.Join(distinct(r.Run.Plugins, func(p record.Plugin) string { return p.GoVersion }), ", ")
	}},
	{"CPUs granted", func(r compare.Results) string { return strings.Join(distinct(r.Records, granted), "; ") }},
	{"socket buffers granted, send / receive", func(r compare.Results) string { return strings.Join(distinct(measuredOf(r.Records), buffers), "; ") }},
	{"CPU time read by", func(r compare.Results) string {
		return strings.Join(distinct(r.Records, func(rec record.Record) string { return rec.Provenance.CPUSource }), "; ")
	}},
	{"warm-up, each contender", func(r compare.Results) string { return time.Duration(r.Run.WarmupNanos).String() }},
	{"counted time, each contender", func(r compare.Results) string { return time.Duration(r.Run.MeasureNanos).String() }},
	{"rounds, each in fresh processes", func(r compare.Results) string { return strconv.Itoa(r.Run.Rounds) }},
	{"seed", func(r compare.Results) string { return strconv.FormatUint(r.Run.Seed, 10) }},
	{"baseline", func(r compare.Results) string { return r.Run.Baseline.String() }},
}

// perRun is one value where all runs agree; else each value with its runs.
func (s *site) perRun(of func(compare.Results) string) string {
	value := func(r compare.Results) string { return escape(orWord(of(r), unknown)) }
	values := distinct(s.all, value)
	if len(values) == 1 {
		return values[0]
	}
	var parts []string
	for _, v := range values {
		var runs []string
		for _, r := range s.all {
			if value(r) == v {
				runs = append(runs, code(r.Run.RunID))
			}
		}
		parts = append(parts, v+" ("+strings.Join(runs, ", ")+")")
	}
	return strings.Join(parts, "<br>")
}

// plugins lists the executables, each build once.
func (s *site) plugins() [][]string {
	var rows [][]string
	seen := map[string]bool{}
	for _, res := range s.all {
		for _, p := range res.Run.Plugins {
			if seen[p.Name+p.SHA256] {
				continue
			}
			seen[p.Name+p.SHA256] = true
			rows = append(rows, []string{escape(p.Name), code(p.Version), escape(orWord(p.GoVersion, unknown)), code(p.SHA256)})
		}
	}
	return rows
}

// distinctWarnings are what was not found out about the machines, and why.
func distinctWarnings(all []compare.Results) []string {
	var list []string
	for _, res := range all {
		list = append(list, res.Run.Environment.Warnings...)
	}
	return distinct(list, escape)
}

func number(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func memory(r compare.Results) string {
	if b := r.Run.Environment.MemoryBytes; b != nil {
		return digits3(round3(float64(*b)/(1<<30))) + " GiB"
	}
	return unknown
}

func quota(r compare.Results) string {
	if q := r.Run.Environment.CPUQuota; q != nil {
		return digits3(round3(*q))
	}
	return "no limit known"
}

// interrupts says whose CPU time includes them.
func interrupts(r compare.Results) string {
	switch apart := r.Run.Environment.IRQTimeAccounting; {
	case apart == nil:
		return unknown
	case *apart:
		return "kept apart from the CPU time of processes"
	}
	return "in the CPU time of whichever process they interrupt"
}

// granted is the CPUs that a trial's processes could run on.
func granted(r record.Record) string {
	server := cpus(r.Provenance.CPUs.Server)
	if r.Cell.Placement == cell.Colocated {
		return "colocated: " + server
	}
	return "split: server " + server + ", load " + cpus(r.Provenance.CPUs.Load)
}

// measuredOf are the records with figures.
func measuredOf(recs []record.Record) []record.Record {
	return slices.DeleteFunc(slices.Clone(recs), func(r record.Record) bool { return r.Metrics == nil })
}

// buffers are the socket buffers of a trial's server, as the kernel reports them.
func buffers(r record.Record) string {
	p := serving(r)
	if p.SendBufferBytes == 0 && p.ReceiveBufferBytes == 0 {
		return unknown
	}
	return fmt.Sprintf("%s %s / %s bytes", r.Cell.Protocol, thousands(strconv.Itoa(p.SendBufferBytes)), thousands(strconv.Itoa(p.ReceiveBufferBytes)))
}

// serving is the process that holds the server; without figures it is empty.
func serving(r record.Record) record.Process {
	switch {
	case r.Server != nil:
		return *r.Server
	case r.Process != nil:
		return *r.Process
	}
	return record.Process{}
}

// cpus is a set of CPUs by number.
func cpus(set []int) string {
	if len(set) == 0 {
		return "any"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(set), " ", ", "), "[]")
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}
