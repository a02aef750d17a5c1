package load

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/control"
)

// plan is the list of slices laid on the load's clock. The times are fixed when
// it begins; every session compares the clock it reads anyway with them, so
// that threads agree on a slice without talking to each other.
type plan struct {
	slices []control.Slice
	start  []int64  // of each slice, and the end of the last
	turns  [][]turn // by target

	cfg      *Config
	nextEdge atomic.Int64 // the next time at which clocks are to be read

	mu    sync.Mutex
	edges []edge
	seen  int     // edges passed
	reads []clock // one for each edge passed
	final []int64 // CPU clock of each target once all are idle
}

// turn is a stretch of the plan on one target: one slice, or several in a row.
type turn struct {
	start, end int64
	before     int64 // how long the target's turns before this one took
}

// edge is a time at which clocks are read: the start of a slice, the start of
// its counted window, or the end of the plan.
type edge struct {
	at     int64
	slice  int
	window bool
}

// clock is what was read at an edge. Of the targets two matter: the slice's own
// and the one of the slice before.
type clock struct {
	own, working, target, before int64
}

func newPlan(slices []control.Slice, targets int) (*plan, error) {
	if len(slices) == 0 {
		return nil, fmt.Errorf("load: the plan is empty")
	}
	for i, s := range slices {
		if s.Target < 0 || s.Target >= targets || s.Length <= 0 || s.Settle < 0 || s.Settle >= s.Length {
			return nil, fmt.Errorf("load: slice %d of the plan makes no sense: target %d of %d, length %d ns, settle %d ns", i, s.Target, targets, s.Length, s.Settle)
		}
	}
	return &plan{slices: slices, turns: make([][]turn, targets)}, nil
}

// begin lays the plan on the clock, starting at now, and passes the first edge.
func (p *plan) begin(now int64, cfg *Config) {
	p.cfg = cfg
	at := now
	for i, s := range p.slices {
		p.start = append(p.start, at)
		p.extend(i, at)
		p.edges = append(p.edges, edge{at, i, false}, edge{at + s.Settle, i, true})
		at += s.Length
	}
	p.start = append(p.start, at)
	p.edges = append(p.edges, edge{at, len(p.slices), false})
	p.final = make([]int64, len(p.turns))
	for t := range p.final {
		p.final[t] = unread
	}
	p.pass(now)
}

// extend adds slice i, which starts at a time, to the turns of its target.
func (p *plan) extend(i int, at int64) {
	s := p.slices[i]
	turns := p.turns[s.Target]
	last := len(turns) - 1
	if i > 0 && p.slices[i-1].Target == s.Target {
		turns[last].end += s.Length
		return
	}
	t := turn{start: at, end: at + s.Length}
	if last >= 0 {
		t.before = turns[last].before + turns[last].end - turns[last].start
	}
	p.turns[s.Target] = append(turns, t)
}

// end is the time at which sending stops.
func (p *plan) end() int64 { return p.start[len(p.slices)] }

// over is the time at which the last target has been left alone for as long as
// every other has been: one settling time after its slice.
func (p *plan) over() int64 { return p.end() + p.slices[len(p.slices)-1].Settle }

// at returns the slice that now lies in, looking on from slice i; len(slices)
// when the plan is over.
func (p *plan) at(i int, now int64) int {
	for i < len(p.slices) && now >= p.start[i+1] {
		i++
	}
	return i
}

// nextTurn is the start of the target's next slice after now, or the plan's end.
func (p *plan) nextTurn(target int, now int64) int64 {
	for _, t := range p.turns[target] {
		if t.start > now {
			return t.start
		}
	}
	return p.end()
}

// lastSlice is the target's last slice that began before slice i; -1: none.
func (p *plan) lastSlice(target, i int) int {
	for i--; i >= 0; i-- {
		if p.slices[i].Target == target {
			return i
		}
	}
	return -1
}

// unread stands for a clock that was not read.
const unread = -1

// pass reads the clocks for every edge that now has reached. The caller has
// seen now >= nextEdge; several may at once.
func (p *plan) pass(now int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.seen < len(p.edges) && now >= p.edges[p.seen].at {
		p.reads = append(p.reads, p.read(p.edges[p.seen]))
		p.seen++
	}
	next := int64(math.MaxInt64)
	if p.seen < len(p.edges) {
		next = p.edges[p.seen].at
	}
	p.nextEdge.Store(next)
}

func (p *plan) read(e edge) clock {
	c := clock{own: call(p.cfg.OwnCPU), working: call(p.cfg.Working), target: unread, before: unread}
	if p.cfg.TargetCPU == nil {
		return c
	}
	if e.slice < len(p.slices) {
		c.target = p.cfg.TargetCPU(p.slices[e.slice].Target)
	}
	if e.slice > 0 {
		c.before = p.cfg.TargetCPU(p.slices[e.slice-1].Target)
	}
	return c
}

func call(f func() int64) int64 {
	if f == nil {
		return unread
	}
	return f()
}

// samples turns the readings and the counts into one sample for each slice. To
// be called when nothing flows any more.
func (p *plan) samples(total *recorder) []control.Sample {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]control.Sample, len(p.slices))
	for i, s := range p.slices {
		n := total.slices[i]
		list[i] = control.Sample{
			Start:      p.start[i] + s.Settle - p.start[0],
			End:        p.start[i+1] - p.start[0],
			RoundTrips: n.roundTrips,
			RTTSum:     n.rttSum,
			LoadCPU:    p.between(2*i+1, 2*i+2, func(c clock) int64 { return c.own }),
			Working:    p.between(2*i+1, 2*i+2, func(c clock) int64 { return c.working }),
		}
		list[i].ServerCPU, list[i].Served = p.serverCPU(i, n)
	}
	return list
}

// serverCPU is the CPU time that slice i's target used for it, and the round
// trips that time was for. A target talked to without a break is charged from
// edge to edge; one of several from the idle moment before its turn to the
// idle moment after it, which is when the clock of another process is exact.
func (p *plan) serverCPU(i int, n counts) (cpu, served int64) {
	alone := func(j int) bool { return j < 0 || j >= len(p.slices) || p.slices[j].Target == p.slices[i].Target }
	if alone(i-1) && alone(i+1) {
		// The window's end is the next slice's start: there the target is "before".
		if 2*i+2 >= len(p.reads) {
			return unread, n.roundTrips
		}
		return since(p.reads[2*i+1].target, p.reads[2*i+2].before), n.roundTrips
	}
	served = n.roundTrips + n.beside
	first := p.clockAt(2*i, func(c clock) int64 { return c.target })
	last := p.final[p.slices[i].Target]
	if i+1 < len(p.slices) {
		last = p.clockAt(2*(i+1)+1, func(c clock) int64 { return c.before }) // after the next slice has settled
	}
	return since(first, last), served
}

func (p *plan) between(a, b int, f func(clock) int64) int64 {
	return since(p.clockAt(a, f), p.clockAt(b, f))
}

func (p *plan) clockAt(i int, f func(clock) int64) int64 {
	if i >= len(p.reads) {
		return unread
	}
	return f(p.reads[i])
}

func since(a, b int64) int64 {
	if a == unread || b == unread {
		return unread
	}
	return b - a
}

// settled reads the targets' clocks once all are idle.
func (p *plan) settled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cfg.TargetCPU == nil {
		return
	}
	for t := range p.final {
		p.final[t] = p.cfg.TargetCPU(t)
	}
}
