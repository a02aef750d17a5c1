package message_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/netmatrix/netmatrix/core/message"
)

func TestWorkResultIsWhatDoGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ops := []int64{0, 1, 2, 3, 64, 10_000}
	for range 50 {
		ops = append(ops, rng.Int64N(20_000))
	}
	for _, n := range ops {
		w := message.NewWork(n)
		if got, want := w.None(), n == 0; got != want {
			t.Errorf("work %d: None() = %t, want %t", n, got, want)
		}
		for _, of := range [][2]uint32{{0, 0}, {1, 0}, {0, 1}, {math.MaxUint32, math.MaxUint32}, {rng.Uint32(), rng.Uint32()}} {
			if got, want := w.Result(of[0], of[1]), w.Do(of[0], of[1]); got != want {
				t.Errorf("work %d of client %d message %d: Result = %#x, Do = %#x", n, of[0], of[1], got, want)
			}
		}
	}
}

// A server in another language does the same steps.
func TestWorkIsTheGeneratorItSays(t *testing.T) {
	const client, seq = 3, 5
	x := uint64(client)<<32 | seq
	for n := int64(1); n <= 5; n++ {
		x = x*6364136223846793005 + 1442695040888963407
		if got, want := message.NewWork(n).Do(client, seq), uint32(x>>32); got != want {
			t.Errorf("work %d: Do = %#x, want %#x", n, got, want)
		}
	}
	if got := message.NewWork(0).Do(client, seq); got != 0 {
		t.Errorf("work 0: Do = %#x, want 0", got)
	}
}

func TestWorkTellsServersApartThatSkipIt(t *testing.T) {
	full, short, none := message.NewWork(10_000), message.NewWork(9_999), message.NewWork(0)
	for seq := range uint32(1000) {
		want := full.Result(1, seq)
		if short.Do(1, seq) == want || none.Do(1, seq) == want || full.Do(1, seq+1) == want || full.Do(2, seq) == want {
			t.Fatalf("message %d: less work, or that of a neighbour, gives the same result %#x", seq, want)
		}
	}
}

func ExampleWork() {
	w := message.NewWork(10_000)
	fmt.Println(w.Do(1, 2) == w.Result(1, 2))
	// Output: true
}
