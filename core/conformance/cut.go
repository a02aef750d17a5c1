package conformance

import (
	"fmt"
	"math/rand/v2"
)

// Cut is a way of splitting a stream over Data calls. The zero value is Whole.
type Cut struct {
	Name string
	// size is how many bytes the next Data gets, of those that have arrived:
	// offset have been read before, segment are left of the oldest write.
	size func(rng *rand.Rand, offset int64, segment, arrived int) int
}

// Whole hands over what each write carried in one Data call.
func Whole() Cut {
	return Cut{"whole", func(_ *rand.Rand, _ int64, segment, _ int) int { return segment }}
}

// Glued hands over all that has arrived, whatever writes it came from.
func Glued() Cut {
	return Cut{"glued", func(_ *rand.Rand, _ int64, _, arrived int) int { return arrived }}
}

// Bytes hands over one byte at a time.
func Bytes() Cut {
	return Cut{"bytes", func(*rand.Rand, int64, int, int) int { return 1 }}
}

// Random hands over seeded random lengths of what has arrived.
func Random() Cut {
	return Cut{"random", func(rng *rand.Rand, _ int64, _, arrived int) int { return 1 + rng.IntN(arrived) }}
}

// At cuts each stream once, after its first k bytes, and glues the rest.
func At(k int) Cut {
	return Cut{fmt.Sprintf("at %d", k), func(_ *rand.Rand, offset int64, _, arrived int) int {
		if left := int64(k) - offset; left > 0 {
			return min(arrived, int(left))
		}
		return arrived
	}}
}

// Cuts are all of the above, with a cut at each prefix of a stream of n bytes.
// A session is right when it says the same whichever is used.
func Cuts(n int) []Cut {
	cuts := []Cut{Whole(), Glued(), Bytes(), Random()}
	for k := 1; k < n; k++ {
		cuts = append(cuts, At(k))
	}
	return cuts
}

// next applies the cut, within what is possible.
func (c Cut) next(rng *rand.Rand, offset int64, segment, arrived int) int {
	if c.size == nil {
		return min(segment, arrived)
	}
	return max(1, min(arrived, c.size(rng, offset, min(segment, arrived), arrived)))
}
