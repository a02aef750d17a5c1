package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/transport"
)

// maxSample bounds the cells that are measured where not all are asked for.
const maxSample = 150

// Every legal combination of values can be measured, and its record says so: all
// of them with NETMATRIX_ALL_CELLS=1, else a sample in which every legal pair of
// values meets.
func TestEveryLegalCell(t *testing.T) {
	w := newWorkspace(t, anySuite)
	s := newCellSpace(w.plugins(t))
	all := s.legal()
	if len(all) == 0 {
		t.Fatal("no plugin can run anything")
	}
	chosen := all
	if os.Getenv("NETMATRIX_ALL_CELLS") == "" {
		chosen = pairwise(all)
		if missing := pairs(all).minus(pairs(chosen)); len(missing) > 0 {
			t.Errorf("the sample misses %d legal pairs, for example %v", len(missing), missing[0])
		}
		if len(chosen) > maxSample {
			t.Errorf("the sample has %d cells, more than %d", len(chosen), maxSample)
		}
		if raceEnabled || testing.Short() {
			chosen = everyThird(chosen) // the pairs are covered without the detector; here time matters
		}
	}
	t.Logf("%d of %d legal cells", len(chosen), len(all))
	for i, p := range chosen {
		c := s.cell(p)
		t.Run(fmt.Sprint(c), func(t *testing.T) { w.measureCell(t, c, "--seed", strconv.Itoa(i+1)) })
	}
}

// measureCell measures a cell briefly and holds its record to what must be true
// of it. On a machine busy with other things a process may get no CPU for as
// long as that; then there is a second, longer try.
func (w *workspace) measureCell(t *testing.T, c cell.Cell, flags ...string) {
	t.Helper()
	for _, measure := range []time.Duration{measureTime(c), measureTime(c) + 5*time.Second} {
		args := append(axisFlags(c), "--warmup", "20ms", "--measure", measure.String())
		r := w.netmatrix(t, append(args, flags...)...)
		recs := decodeRecords(t, r.stdout)
		if len(recs) != 1 {
			t.Fatalf("%d records, want 1\nstderr: %s", len(recs), r.stderr)
		}
		rec := recs[0]
		switch {
		case rec.Metrics == nil || wrong(rec):
		case overflows(c) && rec.Status == record.Invalid && rec.Errors["lost"]+rec.Errors["late"] > 0:
			r.expect(t, exitTrials) // datagrams that find no room are dropped
			return
		case rec.Metrics.RTT == nil || rec.Errors["unfinished"] > 0:
			t.Logf("too slow for %v: %d round trips, %s", measure, rec.Metrics.RoundTrips, rec.Reason)
			continue
		}
		r.expect(t, exitOK)
		checkMeasured(t, rec, c)
		return
	}
	t.Error("too slow twice, or it hangs")
}

// wrong reports whether a record counts errors that no hurry and no crowd excuse.
func wrong(r record.Record) bool {
	return r.Errors["content"]+r.Errors["order"]+r.Errors["duplicate"]+r.Errors["disconnects"] > 0
}

// overflows reports whether a cell has more datagrams in flight than a socket
// buffer of the kernel's own size is sure to hold, each with about 1 KiB of
// bookkeeping.
func overflows(c cell.Cell) bool {
	return c.Protocol == "udp" && c.Clients*c.Window*(c.Payload+1024) > 128<<10
}

// cellSpace is the axes of the cells that these tests measure, as lists of
// changes to a cell, and the judgement which combinations are legal.
type cellSpace struct {
	axes    [][]func(*cell.Cell)
	plugins map[string]control.Description
}

func newCellSpace(plugins []pluginInfo) *cellSpace {
	s := &cellSpace{plugins: make(map[string]control.Description)}
	var contenders []cell.Contender
	for _, p := range plugins {
		s.plugins[p.Name] = p.describe()
		for _, e := range cell.Values("execution") {
			contenders = append(contenders, cell.Contender{Runtime: p.Name, Execution: e})
		}
	}
	type io struct {
		model   string
		threads int
	}
	addAxis(s, func(c *cell.Cell, v cell.Contender) { *c = c.With(v) }, contenders...)
	addAxis(s, func(c *cell.Cell, v io) { c.IOModel, c.Threads = v.model, v.threads },
		io{cell.Shared, 1}, io{cell.Shared, 2}, io{cell.Shared, 4}, io{cell.Sharded, 2}, io{cell.Sharded, 4})
	addAxis(s, func(c *cell.Cell, v string) { c.Protocol = v }, cell.Values("protocol")...)
	addAxis(s, func(c *cell.Cell, v int) { c.Payload = v }, 16, 64, 1024, 16384, 65536, 1<<20)
	addAxis(s, func(c *cell.Cell, v int) { c.Clients = v }, 1, 16, 1000)
	addAxis(s, func(c *cell.Cell, v int) { c.Window = v }, 1, 16, 64)
	addAxis(s, func(c *cell.Cell, v string) { c.Pattern = v }, cell.Values("pattern")...)
	addAxis(s, func(c *cell.Cell, v string) { c.Placement = v }, cell.Values("placement")...)
	return s
}

func addAxis[T any](s *cellSpace, set func(*cell.Cell, T), values ...T) {
	var axis []func(*cell.Cell)
	for _, v := range values {
		axis = append(axis, func(c *cell.Cell) { set(c, v) })
	}
	s.axes = append(s.axes, axis)
}

// cell is the cell at a point.
func (s *cellSpace) cell(p point) cell.Cell {
	c := cell.Cell{LoadWait: cell.Busy, AddressFamily: cell.IPv4}
	for axis, value := range p {
		s.axes[axis][value](&c)
	}
	return c.Canonical()
}

// legal are the points that netmatrix accepts and the plugins claim to run.
func (s *cellSpace) legal() []point {
	sizes := make([]int, len(s.axes))
	for i, values := range s.axes {
		sizes[i] = len(values)
	}
	var list []point
	for p := range everyPoint(sizes) {
		c := s.cell(p)
		if c.Validate() == nil && agent.Unsupported(s.plugins[c.Runtime], c) == "" {
			list = append(list, p)
		}
	}
	return list
}

// contenders are those that can run anything, in the order of the plugins.
func (s *cellSpace) contenders() []cell.Contender {
	var list []cell.Contender
	for _, p := range s.legal() {
		if c := s.cell(p).Contender(); !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

func everyThird(list []point) []point {
	var kept []point
	for i := 0; i < len(list); i += 3 {
		kept = append(kept, list[i])
	}
	return kept
}

// describe turns what a user is told of a plugin back into what it said.
func (p *pluginInfo) describe() control.Description {
	d := control.Description{Info: transport.Info{Name: p.Name}, Protocols: p.Protocols}
	for _, l := range p.Lacks {
		d.Info.Lacks = append(d.Info.Lacks, transport.Lack(l))
	}
	return d
}

// axisFlags are a cell's values as flags.
func axisFlags(c cell.Cell) []string {
	return []string{
		"bench", "--runtime", c.Runtime, "--execution", c.Execution,
		"--io-model", c.IOModel, "--threads", strconv.Itoa(c.Threads), "--protocol", c.Protocol,
		"--payload", strconv.Itoa(c.Payload), "--clients", strconv.Itoa(c.Clients), "--window", strconv.Itoa(c.Window),
		"--pattern", c.Pattern, "--placement", c.Placement, "--load-wait", c.LoadWait, "--address-family", c.AddressFamily,
	}
}

// measureTime is long enough that even the last of what a cell keeps in flight
// comes back once within it, if the machine has nothing else to do.
func measureTime(c cell.Cell) time.Duration {
	perMiB := 3 * time.Millisecond
	if raceEnabled {
		perMiB *= 5
	}
	return 50*time.Millisecond + time.Duration(c.Clients*c.Window*c.Payload>>20)*perMiB
}
