package rawpoll

import (
	"sync"
	"testing"
)

// TestBaton has several tell one holder at a time: turns are serial and the
// last signal left is seen by somebody. The race detector checks the rest.
func TestBaton(t *testing.T) {
	const tellers, each = 4, 5000
	var (
		b    baton
		told [tellers]int // what each teller wants seen, written before it tells
		seen [tellers]int // guarded by the baton
		mu   [tellers]sync.Mutex
		wg   sync.WaitGroup
	)
	turn := func(s signal) {
		for i := range tellers {
			if s&(1<<i) != 0 {
				mu[i].Lock()
				seen[i] = told[i]
				mu[i].Unlock()
			}
		}
	}
	for i := range tellers {
		wg.Go(func() {
			for range each {
				mu[i].Lock()
				told[i]++
				mu[i].Unlock()
				s := signal(1 << i)
				if !b.take(s) {
					continue
				}
				for turn(s); !b.give(); turn(b.left()) {
				}
			}
		})
	}
	wg.Wait()
	if seen != told {
		t.Errorf("seen %v, want the last told %v", seen, told)
	}
	if !b.take(0) {
		t.Error("the baton was not laid down")
	}
}
