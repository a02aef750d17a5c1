package message

// Work is the deterministic computation a server does for each echo: that many
// steps of a linear congruential generator, each needing the one before, so
// that neither compiler nor processor can shorten it. Its result after any
// number of steps has a closed form (F. Brown, "Random Number Generation with
// Arbitrary Strides", 1994), so that the load checks every result for nothing.
type Work struct {
	ops      int64
	mul, add uint64 // all steps as one
}

// The multiplier and increment of Knuth's MMIX generator (TAOCP 2, 3.3.4).
const (
	stepMul = 6364136223846793005
	stepAdd = 1442695040888963407
)

// NewWork is work of ops steps; 0: none.
func NewWork(ops int64) Work {
	w := Work{ops: ops, mul: 1}
	mul, add := uint64(stepMul), uint64(stepAdd)
	for n := ops; n > 0; n >>= 1 {
		if n&1 == 1 {
			w.mul, w.add = w.mul*mul, w.add*mul+add
		}
		mul, add = mul*mul, add*mul+add
	}
	return w
}

// None reports whether there is nothing to do.
func (w Work) None() bool { return w.ops == 0 }

// Do does the work for one message, step by step.
func (w Work) Do(client, seq uint32) uint32 {
	if w.ops == 0 {
		return 0
	}
	x := start(client, seq)
	for range w.ops {
		x = x*stepMul + stepAdd
	}
	return uint32(x >> 32)
}

// Result is what Do returns, without doing the work.
func (w Work) Result(client, seq uint32) uint32 {
	if w.ops == 0 {
		return 0
	}
	return uint32((start(client, seq)*w.mul + w.add) >> 32)
}

func start(client, seq uint32) uint64 { return uint64(client)<<32 | uint64(seq) }
