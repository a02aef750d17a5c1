// Package hist counts durations with a bounded relative error. It knows
// nanoseconds and ranks; it must not know whose durations they are.
package hist

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The one range of every histogram here, so that any two can be merged.
const (
	Lowest  int64 = 1              // nanoseconds; what is shorter counts as this
	Highest int64 = 60_000_000_000 // nanoseconds; what is longer counts as this, and as over range

	digits   = 3       // significant decimal digits kept of a value
	maxCount = 1 << 53 // samples in a decoded histogram: beyond any trial, and sums of many stay exact

	// Beyond is how many samples must lie above a percentile before it says
	// anything about the tail and not about one event.
	Beyond = 10
)

// ErrCorrupt is wrapped by every error of Decode.
var ErrCorrupt = errors.New("corrupt histogram")

// Histogram counts durations in nanoseconds, from 1 ns to 60 s, to three
// significant digits. It is not safe for concurrent use: keep one for each
// recording thread and merge once recording has stopped.
type Histogram struct {
	counts    *hdrhistogram.Histogram
	max       int64
	overRange int64
}

// New returns an empty histogram. It takes about 220 KB.
func New() *Histogram {
	return &Histogram{counts: hdrhistogram.New(Lowest, Highest, digits)}
}

// Record counts one duration in nanoseconds.
func (h *Histogram) Record(nanos int64) { h.RecordN(nanos, 1) }

// RecordN counts a duration in nanoseconds n times; n below 1 counts nothing.
// It never fails and never allocates: less than 1 ns counts as 1 ns, more than
// 60 s as 60 s and as over range.
func (h *Histogram) RecordN(nanos, n int64) {
	if n < 1 {
		return
	}
	nanos = max(nanos, Lowest)
	h.max = max(h.max, nanos)
	if nanos > Highest {
		nanos = Highest
		h.overRange += n
	}
	// In range by now, which leaves 2^63 samples as the only way to fail.
	_ = h.counts.RecordValues(nanos, n)
}

// Merge adds what from holds: counts, over range and maximum.
func (h *Histogram) Merge(from *Histogram) {
	h.counts.Merge(from.counts)
	h.max = max(h.max, from.max)
	h.overRange += from.overRange
}

// Reset forgets everything recorded.
func (h *Histogram) Reset() {
	h.counts.Reset()
	h.max, h.overRange = 0, 0
}

// Count is the number of durations recorded, those over range included.
func (h *Histogram) Count() int64 { return h.counts.TotalCount() }

// OverRange is how many durations lay above 60 s; 0 after Decode.
func (h *Histogram) OverRange() int64 { return h.overRange }

// Max is the longest duration in nanoseconds, 0 without samples. It is exact,
// above 60 s too, except after Decode, which knows it to three digits only.
func (h *Histogram) Max() int64 { return h.max }

// Mean is the arithmetic mean in nanoseconds to three digits, 0 without
// samples. A duration over range enters it as 60 s.
func (h *Histogram) Mean() float64 { return h.counts.Mean() }

// Percentile is the duration in nanoseconds at p percent (0 to 100), 0 without
// samples: the value of the sample with the rank that Rank gives, to three
// digits and never above Max. Percentile(100) is Max.
func (h *Histogram) Percentile(p float64) int64 {
	if p >= 100 {
		return h.max
	}
	return min(h.counts.ValueAtPercentile(p), h.max)
}

// PercentileAllowed reports whether at least Beyond samples rank above
// Percentile(p), so that it may be printed.
func (h *Histogram) PercentileAllowed(p float64) bool {
	n := h.Count()
	return n > 0 && n-Rank(p, n) >= Beyond
}

// Rank is the position, from 1, of the sample that stands for p percent of n
// sorted ones: p/100·n rounded half up, at least 1, at most n.
//
// Note: rounding up instead (the nearest-rank rule) is as common, and differs
// by one sample. This is the rule of hdrhistogram-go, whose percentiles these
// are.
func Rank(p float64, n int64) int64 {
	rank := p/100*float64(n) + 0.5
	switch {
	case !(rank >= 1): // NaN too
		return 1
	case rank >= float64(n):
		return n
	}
	return int64(rank)
}

// Encode returns the counts in the compressed V2 form of HdrHistogram, which
// other implementations read once it is base64, as JSON makes it. Over range
// and the exact maximum are not part of that form.
func (h *Histogram) Encode() []byte {
	text, err := h.counts.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err == nil {
		text, err = base64.StdEncoding.AppendDecode(nil, text)
	}
	if err != nil {
		panic(fmt.Sprintf("hist: encoding into memory: %v", err)) // no input can cause it
	}
	return text
}

// Decode is the inverse of Encode. It takes histograms of this package's range
// only; every error wraps ErrCorrupt.
func Decode(b []byte) (*Histogram, error) {
	counts, err := hdrhistogram.Decode(base64.StdEncoding.AppendEncode(nil, b))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if l, m, d := counts.LowestTrackableValue(), counts.HighestTrackableValue(), counts.SignificantFigures(); l != Lowest || m != Highest || d != digits {
		return nil, fmt.Errorf("%w: range %d to %d with %d digits, want %d to %d with %d", ErrCorrupt, l, m, d, Lowest, Highest, digits)
	}
	if n := counts.TotalCount(); n > maxCount {
		return nil, fmt.Errorf("%w: it claims %d samples", ErrCorrupt, n)
	}
	return &Histogram{counts: counts, max: counts.Max()}, nil
}
