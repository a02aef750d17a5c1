package load

import (
	"maps"
	"sync"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/hist"
)

// recorder takes what some of the sessions saw. It is locked once a call, not
// once a message.
type recorder struct {
	mu     sync.Mutex
	slices []counts
	rtt    []*hist.Histogram // by target, of the counted slices
	// Of an open loop, by target too, and of the same round trips.
	intended, slip []*hist.Histogram

	counts  []map[string]int64 // by target: control.Count…, but for the busiest
	traffic []traffic          // by target
}

// counts is what happened in one slice.
type counts struct {
	roundTrips int64 // echoes of its target that arrived in its window
	rttSum     int64
	beside     int64 // echoes of its target that arrived while settling or after its end
}

// traffic counts every message to and from one target.
type traffic struct {
	sent, received, lost, reads int64
	unsent, blocked, tardy      int64
}

func (t *traffic) add(x traffic) {
	t.sent += x.sent
	t.received += x.received
	t.lost += x.lost
	t.reads += x.reads
	t.unsent += x.unsent
	t.blocked += x.blocked
	t.tardy += x.tardy
}

func newRecorder(targets int, open bool) *recorder {
	r := &recorder{traffic: make([]traffic, targets)}
	for range targets {
		r.rtt = append(r.rtt, hist.New())
		if open {
			r.intended = append(r.intended, hist.New())
			r.slip = append(r.slip, hist.New())
		}
		r.counts = append(r.counts, make(map[string]int64))
	}
	return r
}

// begin makes room for the slices of a plan. What was counted before, the
// checked exchanges, is not part of it; errors are.
func (r *recorder) begin(slices int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slices = make([]counts, slices)
	clear(r.traffic)
}

// count adds to one of the rarer counts.
func (r *recorder) count(target int, key string, n int64) {
	r.mu.Lock()
	r.counts[target][key] += n
	r.mu.Unlock()
}

func (r *recorder) longest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var longest int64
	for _, h := range r.rtt {
		longest = max(longest, h.Max())
	}
	return longest
}

// addTo adds what r holds to total, which nobody else uses.
func (r *recorder) addTo(total *recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.slices {
		total.slices[i].roundTrips += c.roundTrips
		total.slices[i].rttSum += c.rttSum
		total.slices[i].beside += c.beside
	}
	for t := range r.rtt {
		total.rtt[t].Merge(r.rtt[t])
		for k, n := range r.counts[t] {
			total.counts[t][k] += n
		}
		total.traffic[t].add(r.traffic[t])
	}
	for t := range r.intended {
		total.intended[t].Merge(r.intended[t])
		total.slip[t].Merge(r.slip[t])
	}
}

// tally is the outcome of one target. What was sent and neither came back nor
// was given up is unfinished.
func (r *recorder) tally(t int) control.Tally {
	c := maps.Clone(r.counts[t])
	tr := r.traffic[t]
	c[control.CountSent], c[control.CountReceived], c[control.CountReads] = tr.sent, tr.received, tr.reads
	c[control.CountLost] = tr.lost
	c[control.CountUnfinished] = tr.sent - tr.received - tr.lost
	c[control.CountOverRange] = r.rtt[t].OverRange()
	y := control.Tally{RTT: r.rtt[t].Encode(), MaxRTT: r.rtt[t].Max(), Counts: c}
	if r.intended != nil {
		c[control.CountUnsent], c[control.CountBlocked], c[control.CountTardy] = tr.unsent, tr.blocked, tr.tardy
		c[control.CountOverRange] = r.intended[t].OverRange()
		y.Intended, y.Slip, y.MaxRTT = r.intended[t].Encode(), r.slip[t].Encode(), r.intended[t].Max()
	}
	return y
}
