package driver

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

const (
	// settle is dropped after each switch between contenders: a Go process runs
	// slower for about 10 ms after it has been idle.
	settle = 12 * time.Millisecond
	// slice is the counted part of a slice. Tails need 100 ms without a switch.
	slice = 100 * time.Millisecond
)

// plan lays out a trial of k contenders: each is warmed up, then measured in
// slices that add up to measure for each. No contender follows itself, unless
// there is but one, which is measured without a break.
func plan(k int, warmup, measure time.Duration, seed uint64) []control.Slice {
	n := max(1, int((measure+slice/2)/slice))
	length := measure / time.Duration(n)
	var list []control.Slice
	if k == 1 {
		if warmup > 0 {
			list = append(list, control.Slice{Length: int64(warmup)})
		}
		for range n {
			list = append(list, control.Slice{Length: int64(length), Counted: true})
		}
		return list
	}
	turns := turns(k, n, seed)
	if warmup > 0 {
		for _, t := range turns[:k] {
			list = append(list, control.Slice{Target: t, Length: int64(warmup)})
		}
	}
	for _, t := range turns {
		list = append(list, control.Slice{Target: t, Length: int64(settle + length), Settle: int64(settle), Counted: true})
	}
	return list
}

// turns orders k contenders so that each has n turns, one in every stretch of
// k, and none follows itself. Two alternate, with a seeded first; more follow
// the rows of a Williams square, in which each contender comes after each other
// one equally often (E. J. Williams, "Experimental Designs Balanced for the
// Estimation of Residual Effects of Treatments", 1949), with seeded labels.
func turns(k, n int, seed uint64) []int {
	labels := rand.New(rand.NewPCG(seed, uint64(k))).Perm(k)
	var list []int
	for r := range n {
		row := make([]int, k)
		for i := range row {
			at := (i + 1) / 2 // 0, 1, k-1, 2, k-2, …
			if i%2 == 0 {
				at = k - i/2
			}
			row[i] = labels[(at+r)%k]
		}
		if k == 2 {
			row = labels
		} else if r/k%2 == 1 {
			slices.Reverse(row) // an odd number of contenders needs the mirrored square too
		}
		if last := len(list) - 1; last >= 0 && list[last] == row[0] {
			row[0], row[1] = row[1], row[0]
		}
		list = append(list, row...)
	}
	return list
}

// length is the time a plan takes.
func length(plan []control.Slice) time.Duration {
	var sum int64
	for _, s := range plan {
		sum += s.Length
	}
	return time.Duration(sum)
}
