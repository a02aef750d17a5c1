package compare

import (
	"math"
	"math/rand/v2"
)

// flips is what the sign-flip test knows of some differences: the means of their
// subsets. Where nothing but chance gives a difference its sign, each of the 2ⁿ
// patterns of signs is as likely as the one seen (R. A. Fisher, "The Design of
// Experiments", 1935, section 21), and turning a subset's signs lowers the sum
// just where the subset's mean is positive. The same means give the interval
// that belongs to the test (J. A. Hartigan, "Using Subsample Values as Typical
// Values", Journal of the American Statistical Association 64, 1969): it holds
// the centres that the test does not reject.
type flips struct {
	means []float64 // of the subsets that are not empty, in no order
	slack float64   // what rounding may make of equal means
}

const (
	// exactUpTo is the most differences of which every pattern is looked at.
	exactUpTo = 20
	// draws is how many patterns stand for all where there are more.
	draws = 1<<17 - 1
	// drawSeed makes the same records give the same verdict.
	drawSeed = 1
)

func newFlips(differences []float64) flips {
	n := len(differences)
	f := flips{}
	for _, d := range differences {
		f.slack = max(f.slack, math.Abs(d)*1e-9)
	}
	if n > exactUpTo {
		f.means = drawnMeans(differences)
		return f
	}
	sums := make([]float64, 1<<n)
	sizes := make([]uint8, 1<<n)
	for i, d := range differences {
		half := 1 << i
		for subset := range half {
			sums[half+subset] = sums[subset] + d
			sizes[half+subset] = sizes[subset] + 1
		}
	}
	for subset := 1; subset < len(sums); subset++ {
		sums[subset] /= float64(sizes[subset])
	}
	f.means = sums[1:]
	return f
}

// drawnMeans are the means of subsets picked at random.
func drawnMeans(differences []float64) []float64 {
	chance := rand.New(rand.NewPCG(drawSeed, uint64(len(differences))))
	means := make([]float64, 0, draws)
	for len(means) < draws {
		sum, size := 0.0, 0
		var signs uint64
		for i, d := range differences {
			if i%64 == 0 {
				signs = chance.Uint64()
			}
			if signs>>(i%64)&1 == 1 {
				sum += d
				size++
			}
		}
		if size > 0 {
			means = append(means, sum/float64(size))
		}
	}
	return means
}

// above is the chance of differences so high, or higher, were their centre at
// most at; below likewise.
func (f flips) above(at float64) float64 {
	n := 1 // nothing turned
	for _, m := range f.means {
		if m <= at+f.slack {
			n++
		}
	}
	return float64(n) / float64(len(f.means)+1)
}

func (f flips) below(at float64) float64 {
	n := 1
	for _, m := range f.means {
		if m >= at-f.slack {
			n++
		}
	}
	return float64(n) / float64(len(f.means)+1)
}

// apart is the chance of differences as far from at, or farther, on either side,
// were at their centre.
func (f flips) apart(at float64) float64 { return min(1, 2*min(f.above(at), f.below(at))) }

// interval holds the centres that apart leaves above alpha. With too few
// differences to reject anything it is the whole line.
func (f flips) interval(alpha float64) (low, high float64) {
	k := int(alpha / 2 * float64(len(f.means)+1))
	if k == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return nth(f.means, k-1), nth(f.means, len(f.means)-k)
}

// nth is what would stand at index k if values were sorted, which it does in
// part (C. A. R. Hoare, "Algorithm 65: Find", 1961).
func nth(values []float64, k int) float64 {
	for low, high := 0, len(values)-1; low < high; {
		pivot, i, j := values[k], low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for pivot < values[j] {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		if j < k {
			low = i
		}
		if k < i {
			high = j
		}
	}
	return values[k]
}
