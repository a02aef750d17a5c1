package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Difference is something in which two runs differ.
type Difference struct {
	What   string
	Before string
	After  string
}

// Circumstances are in what two runs differ that must be the same for their
// figures to be compared: the machine and how it is set, the load, netmatrix
// itself, and how they were measured. What is under test may differ.
func Circumstances(before, after Results) []Difference {
	var list []Difference
	for _, c := range circumstances {
		if x, y := c.of(before), c.of(after); x != y {
			list = append(list, Difference{c.what, x, y})
		}
	}
	return list
}

// circumstances are what must be the same, each in words.
var circumstances = []struct {
	what string
	of   func(Results) string
}{
	{"model", func(r Results) string { return r.Run.Environment.Model }},
	{"CPU", func(r Results) string { return r.Run.Environment.CPU }},
	{"architecture", func(r Results) string { return r.Run.Environment.Architecture }},
	{"physical cores", func(r Results) string { return known(r.Run.Environment.PhysicalCores) }},
	{"logical cores", func(r Results) string { return known(r.Run.Environment.LogicalCores) }},
	{"memory", func(r Results) string { return known(r.Run.Environment.MemoryBytes) }},
	{"operating system", func(r Results) string { return r.Run.Environment.OS }},
	{"kernel", func(r Results) string { return r.Run.Environment.Kernel }},
	{"power", func(r Results) string { return r.Run.Environment.Power }},
	{"frequency governor", func(r Results) string { return r.Run.Environment.Governor }},
	{"hypervisor", func(r Results) string { return r.Run.Environment.Hypervisor }},
	{"CPUs granted by the control group", func(r Results) string { return known(r.Run.Environment.CPUQuota) }},
	{"CPUs allowed", func(r Results) string { return fmt.Sprint(r.Run.Environment.AllowedCPUs) }},
	{"time of interrupts kept apart", func(r Results) string { return known(r.Run.Environment.IRQTimeAccounting) }},
	{"kernel settings", func(r Results) string { return settings(r.Run.Environment.Settings) }},
	{"warm-up", func(r Results) string { return time.Duration(r.Run.WarmupNanos).String() }},
	{"counted time", func(r Results) string { return time.Duration(r.Run.MeasureNanos).String() }},
	{"CPUs of server and load", func(r Results) string { return fmt.Sprint(r.Run.CPUs.Server, r.Run.CPUs.Load) }},
	{"build of the load", provenance(func(p record.Provenance) string { return p.LoadSHA256 })},
	{"build of netmatrix", provenance(func(p record.Provenance) string { return p.DriverSHA256 })},
	{"CPU time read by", provenance(func(p record.Provenance) string { return p.CPUSource })},
}

// known writes what may not be known.
func known[T any](v *T) string {
	if v == nil {
		return "not known"
	}
	return fmt.Sprint(*v)
}

// settings writes all of a machine's settings, those that are maps in an order
// of their own.
func settings(s sysinfo.Settings) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// provenance lists the values that records of a run have, each once.
func provenance(of func(record.Provenance) string) func(Results) string {
	return func(r Results) string {
		var values []string
		for _, rec := range r.Records {
			if v := of(rec.Provenance); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return strings.Join(values, ", ")
	}
}

// Builds are in what the runtimes under test of two runs differ.
func Builds(before, after Results) []Difference {
	var list []Difference
	for _, x := range before.Run.Plugins {
		for _, y := range after.Run.Plugins {
			if x.Name != y.Name {
				continue
			}
			add := func(what, from, to string) {
				if from != to {
					list = append(list, Difference{x.Name + ": " + what, from, to})
				}
			}
			add("build", x.SHA256, y.SHA256)
			add("library", x.Version, y.Version)
			add("Go", x.GoVersion, y.GoVersion)
			for _, module := range modulesOf(x, y) {
				add(module, x.Modules[module], y.Modules[module])
			}
		}
	}
	return list
}

// modulesOf are the modules of either build, sorted.
func modulesOf(x, y record.Plugin) []string {
	var names []string
	for _, modules := range []map[string]string{x.Modules, y.Modules} {
		for name := range modules {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Sittings is what two runs have in common, and what only one of them has.
type Sittings struct {
	Common                []Sitting
	OnlyBefore, OnlyAfter []Row // with good trials
}

// Sitting is a cell with good trials in two runs.
type Sitting struct{ Before, After Row }

// Sit sets two runs against each other, cell by cell, whatever their suites are
// called.
func Sit(before, after Results) Sittings {
	var s Sittings
	good := func(res Results) []Row {
		return slices.DeleteFunc(Rows([]Results{res}), func(r Row) bool { return r.Count(record.OK) == 0 })
	}
	then, now := good(before), good(after)
	for _, b := range then {
		i := slices.IndexFunc(now, func(a Row) bool { return a.Cell == b.Cell })
		if i < 0 {
			s.OnlyBefore = append(s.OnlyBefore, b)
			continue
		}
		s.Common = append(s.Common, Sitting{b, now[i]})
	}
	for _, a := range now {
		if !slices.ContainsFunc(then, func(b Row) bool { return a.Cell == b.Cell }) {
			s.OnlyAfter = append(s.OnlyAfter, a)
		}
	}
	return s
}

// Ratio is the median after by the median before. Its range is that of any
// trial by any other, since no round of one run belongs to a round of the other.
// A throughput that the load limited has none.
func (s Sitting) Ratio(m Metric) Ratio {
	if m.Name == Throughput.Name && (s.Before.Flagged(record.FlagLoadBound) || s.After.Flagged(record.FlagLoadBound)) {
		return Ratio{}
	}
	b, a := s.Before.Series(m).Spread(), s.After.Series(m).Spread()
	if a.N == 0 || b.Min <= 0 {
		return Ratio{}
	}
	return Ratio{Spread{Median: a.Median / b.Median, Min: a.Min / b.Max, Max: a.Max / b.Min, N: min(a.N, b.N)}, !a.Separate(b)}
}
