package hist_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/netmatrix/netmatrix/core/hist"
)

const second = int64(1_000_000_000)

// near reports whether got stands for want to three digits.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= float64(want)*0.001+1
}

func TestShortDurations(t *testing.T) {
	h := hist.New()
	for _, v := range []int64{-5, 0, 1, 11, 1000} {
		h.Record(v)
	}
	if got, want := h.Count(), int64(5); got != want {
		t.Errorf("Count() = %d, want %d: a duration was lost", got, want)
	}
	if got, want := h.Percentile(0), int64(1); got != want {
		t.Errorf("Percentile(0) = %d, want %d: 0 ns counts as 1 ns", got, want)
	}
	if got, want := h.Max(), int64(1000); got != want {
		t.Errorf("Max() = %d, want %d", got, want)
	}
	if got := h.OverRange(); got != 0 {
		t.Errorf("OverRange() = %d, want 0", got)
	}
}

func TestOverRange(t *testing.T) {
	h := hist.New()
	h.Record(1000)
	h.RecordN(60*second, 2) // the top itself is in range
	h.RecordN(61*second, 3)
	h.Record(math.MaxInt64)
	if got, want := h.Count(), int64(7); got != want {
		t.Errorf("Count() = %d, want %d", got, want)
	}
	if got, want := h.OverRange(), int64(4); got != want {
		t.Errorf("OverRange() = %d, want %d", got, want)
	}
	if got, want := h.Max(), int64(math.MaxInt64); got != want {
		t.Errorf("Max() = %d, want the exact %d", got, want)
	}
	if got := h.Percentile(100); got != h.Max() {
		t.Errorf("Percentile(100) = %d, want Max() = %d", got, h.Max())
	}
	if got := h.Percentile(50); !near(got, 60*second) {
		t.Errorf("Percentile(50) = %d, want the clamped 60 s", got)
	}
}

func TestRecordNBelowOne(t *testing.T) {
	h := hist.New()
	h.RecordN(70*second, 0)
	h.RecordN(5, -1)
	if h.Count() != 0 || h.Max() != 0 || h.OverRange() != 0 {
		t.Errorf("count %d, max %d, over range %d after recording nothing, want zeros", h.Count(), h.Max(), h.OverRange())
	}
}

func TestEmpty(t *testing.T) {
	h := hist.New()
	for _, p := range []float64{0, 50, 99.99, 100} {
		if got := h.Percentile(p); got != 0 {
			t.Errorf("Percentile(%g) = %d, want 0", p, got)
		}
		if h.PercentileAllowed(p) {
			t.Errorf("PercentileAllowed(%g) without samples", p)
		}
	}
	if got := h.Mean(); got != 0 {
		t.Errorf("Mean() = %g, want 0 (not NaN)", got)
	}
}

func TestPercentileRank(t *testing.T) {
	ascending := make([]int64, 160)
	for i := range ascending {
		ascending[i] = int64(i + 1)
	}
	for _, tt := range []struct {
		name    string
		samples []int64
		p       float64
		want    int64
	}{
		{"one huge of 1001, p95", withHuge(1000), 95, 1000},
		{"one huge of 1001, p99", withHuge(1000), 99, 1000},
		{"one huge of 1001, p99.9", withHuge(1000), 99.9, 1000},
		{"one huge of 1001, p100", withHuge(1000), 100, 10 * second},
		{"one huge of 100, p99", withHuge(99), 99, 1000},
		{"one huge of 100, p100", withHuge(99), 100, 10 * second},
		{"half up: 158.4 + 0.5", ascending, 99, 158},
		{"lowest", ascending, 0, 1},
		{"below 0", ascending, -3, 1},
		{"above 100", ascending, 250, 160},
		{"NaN", ascending, math.NaN(), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := hist.New()
			for _, v := range tt.samples {
				h.Record(v)
			}
			if got := h.Percentile(tt.p); got != tt.want {
				t.Errorf("Percentile(%g) = %d, want %d", tt.p, got, tt.want)
			}
		})
	}
}

// withHuge is n samples of 1 µs and one of 10 s.
func withHuge(n int) []int64 {
	return append(slices.Repeat([]int64{1000}, n), 10*second)
}

func TestPercentileAgainstSortedSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 9, 10, 11, 99, 100, 101, 1000, 12345} {
		h := hist.New()
		samples := make([]int64, n)
		for i := range samples {
			samples[i] = int64(math.Exp(rng.Float64() * 25)) // 1 ns to 72 s
			h.Record(samples[i])
		}
		slices.Sort(samples)
		for _, p := range []float64{0, 0.1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100} {
			want := samples[hist.Rank(p, int64(n))-1]
			if p < 100 {
				want = min(want, hist.Highest)
			}
			if got := h.Percentile(p); !near(got, want) {
				t.Errorf("n %d: Percentile(%g) = %d, want about %d", n, p, got, want)
			}
			if h.Percentile(p) > h.Max() {
				t.Errorf("n %d: Percentile(%g) = %d lies above Max() = %d", n, p, h.Percentile(p), h.Max())
			}
		}
	}
}

func TestPercentileAllowed(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		p    float64
		want bool
	}{
		{19, 50, false}, // rank 10 leaves 9
		{20, 50, true},
		{999, 99, true}, // rank 989 leaves 10
		{900, 99, false},
		{1000, 99, true},
		{9999, 99.9, true},
		{9000, 99.9, false},
		{1_000_000, 100, false},
	} {
		h := hist.New()
		h.RecordN(1000, tt.n)
		if got := h.PercentileAllowed(tt.p); got != tt.want {
			t.Errorf("PercentileAllowed(%g) of %d = %t, want %t", tt.p, tt.n, got, tt.want)
		}
	}
}

func TestMean(t *testing.T) {
	h := hist.New()
	h.RecordN(1_000_000, 3)
	h.Record(5_000_000)
	if got, want := h.Mean(), 2e6; math.Abs(got-want) > want/1000 {
		t.Errorf("Mean() = %g, want %g to three digits", got, want)
	}
}

func TestMerge(t *testing.T) {
	a, b, sum := hist.New(), hist.New(), hist.New()
	a.RecordN(100, 7)
	a.Record(62 * second)
	b.RecordN(5000, 4)
	b.Record(61 * second)
	for _, h := range []*hist.Histogram{a, hist.New(), b} {
		sum.Merge(h)
	}
	if got, want := sum.Count(), a.Count()+b.Count(); got != want {
		t.Errorf("Count() = %d, want %d", got, want)
	}
	if got, want := sum.OverRange(), int64(2); got != want {
		t.Errorf("OverRange() = %d, want %d", got, want)
	}
	if got, want := sum.Max(), 62*second; got != want {
		t.Errorf("Max() = %d, want %d", got, want)
	}
	for _, p := range []float64{0, 50, 99.99, 100} {
		sum.Percentile(p) // must not panic
	}
	if got := sum.Percentile(50); got != 100 {
		t.Errorf("Percentile(50) = %d, want 100", got)
	}
	sum.Reset()
	if sum.Count() != 0 || sum.Max() != 0 || sum.OverRange() != 0 || sum.Percentile(99) != 0 {
		t.Errorf("Reset left count %d, max %d, over range %d", sum.Count(), sum.Max(), sum.OverRange())
	}
}

func TestEncodeDecode(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	h := hist.New()
	for range 10_000 {
		h.Record(rng.Int64N(100_000_000))
	}
	got, err := hist.Decode(h.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got.Count() != h.Count() || got.Mean() != h.Mean() {
		t.Errorf("count %d, mean %g after the round trip, want %d, %g", got.Count(), got.Mean(), h.Count(), h.Mean())
	}
	if !near(got.Max(), h.Max()) {
		t.Errorf("Max() = %d after the round trip, want about %d", got.Max(), h.Max())
	}
	for _, p := range []float64{0, 1, 50, 99, 99.9} {
		if got, want := got.Percentile(p), h.Percentile(p); got != want {
			t.Errorf("Percentile(%g) = %d after the round trip, want %d", p, got, want)
		}
	}
	if !bytes.Equal(got.Encode(), h.Encode()) {
		t.Error("the second encoding differs from the first")
	}
	if empty, err := hist.Decode(hist.New().Encode()); err != nil || empty.Count() != 0 || empty.Max() != 0 {
		t.Errorf("an empty histogram decodes to %+v, %v", empty, err)
	}
}

func TestEncodeIsReadByOthers(t *testing.T) {
	h := hist.New()
	h.RecordN(1234, 5)
	other, err := hdrhistogram.Decode([]byte(base64.StdEncoding.EncodeToString(h.Encode())))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := other.TotalCount(), int64(5); got != want {
		t.Errorf("TotalCount() = %d, want %d", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := hist.New()
	good.RecordN(77, 3)
	enc := good.Encode()
	for name, b := range map[string][]byte{
		"nothing":        nil,
		"truncated":      enc[:len(enc)-3],
		"header only":    enc[:8],
		"another range":  encodeOther(t, 1, second, 3, 1),
		"another unit":   encodeOther(t, 1000, 60*second, 3, 1),
		"another digits": encodeOther(t, 1, 60*second, 2, 1),
		"absurd count":   encodeOther(t, 1, 60*second, 3, 1<<60),
	} {
		if h, err := hist.Decode(b); !errors.Is(err, hist.ErrCorrupt) {
			t.Errorf("%s: Decode = %v, %v, want ErrCorrupt", name, h, err)
		}
	}
}

// encodeOther encodes a histogram of another shape, holding n samples of 5.
func encodeOther(t testing.TB, low, high int64, digits int, n int64) []byte {
	t.Helper()
	h := hdrhistogram.New(low, high, digits)
	if err := h.RecordValues(5, n); err != nil {
		t.Fatal(err)
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := hist.New()
	v := int64(1)
	if got := testing.AllocsPerRun(1000, func() {
		h.RecordN(v, 16)
		v = v*3 + 1
	}); got != 0 {
		t.Errorf("RecordN allocates %g times, want 0", got)
	}
}

func FuzzDecode(f *testing.F) {
	h := hist.New()
	f.Add(h.Encode())
	h.RecordN(1000, 99)
	h.Record(70 * second)
	f.Add(h.Encode())
	f.Add(encodeOther(f, 1, second, 2, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := hist.Decode(b)
		if err != nil {
			if !errors.Is(err, hist.ErrCorrupt) {
				t.Fatalf("%v does not wrap ErrCorrupt", err)
			}
			return
		}
		if p50, p99 := h.Percentile(50), h.Percentile(99); p50 > p99 || p99 > h.Max() {
			t.Fatalf("p50 %d, p99 %d, max %d are out of order", p50, p99, h.Max())
		}
		again, err := hist.Decode(h.Encode())
		if err != nil || again.Count() != h.Count() {
			t.Fatalf("what Decode took does not survive Encode: %v", err)
		}
	})
}

func BenchmarkRecordN(b *testing.B) {
	h := hist.New()
	v := int64(1)
	for b.Loop() {
		h.RecordN(v&0xfffffff, 1)
		v = v*6364136223846793005 + 1442695040888963407
	}
}

func ExampleHistogram() {
	h := hist.New()
	h.RecordN(35_000, 1000) // 1,000 round trips of 35 µs
	h.Record(2_000_000)
	fmt.Println(h.Count(), h.Percentile(99), h.PercentileAllowed(99), h.Max())
	// Output: 1001 35007 true 2000000
}
