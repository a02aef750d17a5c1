package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ranks are 1 to n, the first few of them negative: their sign-flip test is
// Wilcoxon's signed-rank test.
func ranks(n int, negative ...int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i + 1)
		if slices.Contains(negative, i+1) {
			list[i] = -list[i]
		}
	}
	return list
}

func TestSignFlipAgainstPublishedValues(t *testing.T) {
	// Darwin's maize as Fisher gives it, in eighths of an inch: of the 32,768
	// patterns 863 sum to 314 or more.
	maize := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	for _, tt := range []struct {
		name        string
		differences []float64
		above       float64
	}{
		{"Fisher's maize", maize, 863.0 / 32768},
		{"all on one side", ranks(7), 1.0 / 128},
		{"n 5, W 1", ranks(5, 1), 2.0 / 32},
		{"n 7, W 2", ranks(7, 2), 3.0 / 128},
		{"n 8, W 3", ranks(8, 3), 5.0 / 256},
		{"n 10, W 8", ranks(10, 8), 25.0 / 1024},
		{"identical", []float64{.1, .1, .1, .1, .1, .1, .1}, 1.0 / 128},
		{"nothing but zeros", make([]float64, 8), 1},
		{"one", []float64{3}, 0.5},
	} {
		f := newFlips(tt.differences)
		if got := f.above(0); math.Abs(got-tt.above) > 1e-12 {
			t.Errorf("%s: above = %v, want %v", tt.name, got, tt.above)
		}
		if got, want := f.apart(0), min(1, 2*tt.above); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: apart = %v, want %v", tt.name, got, want)
		}
		for i := range tt.differences {
			tt.differences[i] = -tt.differences[i]
		}
		if got := newFlips(tt.differences).below(0); math.Abs(got-tt.above) > 1e-12 {
			t.Errorf("%s: below of the mirrored = %v, want %v", tt.name, got, tt.above)
		}
	}
}

// The largest sums of negative ranks that are significant at 0.05 on both sides,
// from Wilcoxon's table.
func TestSignFlipAgainstWilcoxonsTable(t *testing.T) {
	for n, critical := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 18: 40} {
		p := func(sum int) float64 {
			var negative []int
			for r := n; sum > 0; r-- {
				if r <= sum {
					negative = append(negative, r)
					sum -= r
				}
			}
			return newFlips(ranks(n, negative...)).apart(0)
		}
		if at, beyond := p(critical), p(critical+1); at > 0.05 || beyond <= 0.05 {
			t.Errorf("n %d: p = %v at %d and %v at %d, want at most and over 0.05", n, at, critical, beyond, critical+1)
		}
	}
}

func TestIntervalHoldsWhatIsNotRejected(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 5))
	const alpha = 0.05
	for range 50 {
		d := make([]float64, 6+chance.IntN(7))
		for i := range d {
			d[i] = chance.NormFloat64()
		}
		f := newFlips(d)
		low, high := f.interval(alpha)
		for _, tt := range []struct {
			at   float64
			want bool
		}{{low + 1e-6, true}, {high - 1e-6, true}, {low - 1e-6, false}, {high + 1e-6, false}} {
			if got := f.apart(tt.at) > alpha; got != tt.want {
				t.Errorf("%d differences: [%v, %v], and %v is held to be possible: %t", len(d), low, high, tt.at, got)
			}
		}
	}
	if low, high := newFlips(ranks(5)).interval(alpha); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("five differences: [%v, %v], want no bounds", low, high)
	}
}

// Beyond 20 differences patterns are drawn; what they say is near the truth, and
// the same each time.
func TestDrawnPatterns(t *testing.T) {
	d := ranks(25, 25, 24, 23, 17) // W = 89, the table's last that is significant at 0.05: p = 0.0483
	got, again := newFlips(d).apart(0), newFlips(d).apart(0)
	if got != again {
		t.Errorf("p = %v and %v of the same differences", got, again)
	}
	if math.Abs(got-0.0483) > 0.003 {
		t.Errorf("p = %v, want 0.0483 or so", got)
	}
	if f := newFlips(ranks(200)); len(f.means) != draws || f.apart(0) > 1e-4 {
		t.Errorf("200 differences of one sign: p = %v from %d patterns", f.apart(0), len(f.means))
	}
}

func TestNth(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]float64, 1+chance.IntN(40))
		for i := range values {
			values[i] = float64(chance.IntN(8))
		}
		sorted := slices.Sorted(slices.Values(values))
		for k := range sorted {
			if got := nth(slices.Clone(values), k); got != sorted[k] {
				t.Fatalf("nth(%v, %d) = %v, want %v", values, k, got, sorted[k])
			}
		}
	}
}
