package load

import "slices"

// flight is what one connection has sent and not yet had back, oldest first.
// Messages handed over together have one sending time and are kept as one run,
// so that a window of 16 refilled at once costs one entry. The zero value is ready.
type flight struct {
	runs []run
	head int
	n    int // messages in flight
}

// run is n messages with consecutive sequence numbers, sent at once and, in an
// open loop, due at once.
type run struct {
	first  uint32
	n      int
	sentAt int64
	slip   int64 // how much earlier they were due
}

// push adds n messages from sequence number first on.
func (f *flight) push(first uint32, n int, sentAt int64) {
	if n == 0 {
		return
	}
	// Only when half is free: else every push at the top would move all runs.
	if len(f.runs) == cap(f.runs) && f.head > len(f.runs)/2 {
		f.runs = f.runs[:copy(f.runs, f.runs[f.head:])]
		f.head = 0
	}
	f.runs = append(f.runs, run{first: first, n: n, sentAt: sentAt})
	f.n += n
}

// last are the n runs that were pushed last, to be changed.
func (f *flight) last(n int) []run { return f.runs[len(f.runs)-n:] }

// oldest is the run that was sent first; nil: nothing is in flight.
func (f *flight) oldest() *run {
	if f.head == len(f.runs) {
		return nil
	}
	return &f.runs[f.head]
}

// next takes the oldest message out if it is the one asked for.
func (f *flight) next(seq uint32) (sentAt, slip int64, ok bool) {
	if f.head == len(f.runs) || f.runs[f.head].first != seq {
		return 0, 0, false
	}
	r := &f.runs[f.head]
	r.first++
	r.n--
	f.n--
	if r.n == 0 {
		f.drop()
	}
	return r.sentAt, r.slip, true // drop leaves them in place
}

// drop moves on from the oldest run, which is empty.
func (f *flight) drop() {
	f.head++
	if f.head == len(f.runs) {
		f.runs, f.head = f.runs[:0], 0
	}
}

// lose takes the oldest run out as a whole and returns it.
func (f *flight) lose() run {
	r := f.runs[f.head]
	f.n -= r.n
	f.drop()
	return r
}

// take takes a message out of the middle; ok is false when it is not in flight.
// It is the rare way: a stream keeps the order and datagrams mostly do.
func (f *flight) take(seq uint32) (sentAt, slip int64, ok bool) {
	for i := f.head; i < len(f.runs); i++ {
		r := &f.runs[i]
		at := seq - r.first // wraps to a huge number when seq is before first
		if at >= uint32(r.n) {
			continue
		}
		sentAt, slip = r.sentAt, r.slip
		f.n--
		r.n--
		switch before := int(at); {
		case r.n == 0 && i == f.head:
			f.drop()
		case r.n == 0:
			f.runs = slices.Delete(f.runs, i, i+1)
		case before == 0:
			r.first++
		case before < r.n:
			after := run{seq + 1, r.n - before, sentAt, slip}
			r.n = before
			f.runs = slices.Insert(f.runs, i+1, after)
		}
		return sentAt, slip, true
	}
	return 0, 0, false
}
