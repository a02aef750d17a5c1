package main

import (
	"iter"
	"slices"
	"testing"
)

// point is one value, by number, on each axis.
type point []int

// pair is two values on two axes, axis by axis.
type pair struct {
	axis1, value1, axis2, value2 int
}

// in reports whether a point has both values.
func (x pair) in(p point) bool { return p[x.axis1] == x.value1 && p[x.axis2] == x.value2 }

// pairSet is a set of pairs in a fixed order.
type pairSet struct {
	list []pair
	has  map[pair]bool
}

// pairs are the pairs that occur in points. A pair that occurs in no legal point
// is not legal.
func pairs(points []point) *pairSet {
	s := &pairSet{has: make(map[pair]bool)}
	for _, p := range points {
		for x := range p.pairs() {
			if !s.has[x] {
				s.has[x] = true
				s.list = append(s.list, x)
			}
		}
	}
	return s
}

func (p point) pairs() iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for i := range p {
			for j := i + 1; j < len(p); j++ {
				if !yield(pair{i, p[i], j, p[j]}) {
					return
				}
			}
		}
	}
}

// minus are the pairs of s that are not in t.
func (s *pairSet) minus(t *pairSet) []pair {
	return slices.DeleteFunc(slices.Clone(s.list), func(x pair) bool { return t.has[x] })
}

// pairwise chooses few points in which every pair that occurs in legal occurs.
// It is greedy: of the points that have the first pair still missing it takes
// the one that brings most missing pairs. The same points give the same choice.
func pairwise(legal []point) []point {
	missing := pairs(legal)
	var chosen []point
	for _, next := range missing.list {
		if !missing.has[next] {
			continue
		}
		var best point
		most := 0
		for _, p := range legal {
			if !next.in(p) {
				continue
			}
			gain := 0
			for x := range p.pairs() {
				if missing.has[x] {
					gain++
				}
			}
			if gain > most {
				best, most = p, gain
			}
		}
		for x := range best.pairs() {
			delete(missing.has, x)
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// everyPoint walks the product of axes of the given sizes.
func everyPoint(sizes []int) iter.Seq[point] {
	return func(yield func(point) bool) {
		p := make(point, len(sizes))
		for {
			if !yield(slices.Clone(p)) {
				return
			}
			axis := len(p) - 1
			for ; axis >= 0; axis-- {
				if p[axis]++; p[axis] < sizes[axis] {
					break
				}
				p[axis] = 0
			}
			if axis < 0 {
				return
			}
		}
	}
}

// The generator against a plain enumeration, with a rule that forbids a third of
// the points.
func TestPairwiseCoversEveryLegalPair(t *testing.T) {
	var legal []point
	for p := range everyPoint([]int{3, 4, 2, 5}) {
		if (p[0]+p[1]+p[3])%3 != 0 && !(p[2] == 1 && p[3] == 4) {
			legal = append(legal, p)
		}
	}
	chosen := pairwise(legal)
	for axis1 := range 4 {
		for axis2 := range axis1 {
			for _, p := range legal {
				met := slices.ContainsFunc(chosen, func(q point) bool { return q[axis1] == p[axis1] && q[axis2] == p[axis2] })
				if !met {
					t.Fatalf("axes %d and %d: the values of %v never meet", axis1, axis2, p)
				}
			}
		}
	}
	if len(chosen) > 30 || !slices.EqualFunc(chosen, pairwise(legal), slices.Equal) {
		t.Errorf("%d points chosen of %d; want at most 30, the same each time", len(chosen), len(legal))
	}
}
