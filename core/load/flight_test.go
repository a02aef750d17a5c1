package load

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
)

// messagesOf lists what a flight holds, oldest first, with sending times.
func messagesOf(f *flight) (seqs []uint32, sent map[uint32]int64) {
	sent = make(map[uint32]int64)
	for _, r := range f.runs[f.head:] {
		for i := range r.n {
			seqs = append(seqs, r.first+uint32(i))
			sent[r.first+uint32(i)] = r.sentAt
		}
	}
	return seqs, sent
}

// Whatever is done to a flight, it holds what a plain map holds.
func TestFlightAgainstMap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var f flight
		model := make(map[uint32]int64)
		next, now := uint32(math.MaxUint32-100), int64(0)
		for step := range 3000 {
			now++
			switch seqs, _ := messagesOf(&f); {
			case rng.IntN(3) == 0 && len(model) < 64:
				n := rng.IntN(5)
				f.push(next, n, now)
				for range n {
					model[next] = now
					next++
				}
			case len(seqs) == 0:
				if r := f.oldest(); r != nil {
					t.Fatalf("seed %d step %d: an empty flight has an oldest run %+v", seed, step, *r)
				}
			case rng.IntN(20) == 0:
				r := f.lose()
				for i := range r.n {
					delete(model, r.first+uint32(i))
				}
			case rng.IntN(2) == 0:
				if r := f.oldest(); r.first != seqs[0] || r.sentAt != model[seqs[0]] {
					t.Fatalf("seed %d step %d: the oldest is %+v, want message %d sent at %d", seed, step, *r, seqs[0], model[seqs[0]])
				}
				f.next(f.oldest().first)
				delete(model, seqs[0])
			default:
				seq := seqs[rng.IntN(len(seqs))]
				at, _, ok := f.take(seq)
				if !ok || at != model[seq] {
					t.Fatalf("seed %d step %d: take(%d) = %d, %t; want %d", seed, step, seq, at, ok, model[seq])
				}
				delete(model, seq)
				if _, _, ok := f.take(seq); ok {
					t.Fatalf("seed %d step %d: message %d was taken twice", seed, step, seq)
				}
			}
			if _, got := messagesOf(&f); !maps.Equal(got, model) || f.n != len(model) {
				t.Fatalf("seed %d step %d: the flight holds %v (n %d), want %v", seed, step, got, f.n, model)
			}
		}
	}
}

func TestFlightTakesOnlyWhatItHolds(t *testing.T) {
	var f flight
	f.push(10, 5, 1)
	for _, seq := range []uint32{0, 9, 15, math.MaxUint32} {
		if at, _, ok := f.take(seq); ok {
			t.Errorf("take(%d) = %d from messages 10 to 14", seq, at)
		}
	}
	if f.n != 5 {
		t.Errorf("n = %d, want 5", f.n)
	}
}

// A window answered message by message keeps one run for each; the runs must
// neither grow without end nor be moved at each push.
func TestFlightStaysSmall(t *testing.T) {
	for _, window := range []int{1, 16, 1000} {
		var f flight
		for seq := range uint32(window) {
			f.push(seq, 1, 0)
		}
		moves, was := 0, f.head
		for seq := range uint32(20 * window) {
			f.next(f.oldest().first)
			f.push(seq, 1, 0)
			if f.head <= was && window > 1 {
				moves++
			}
			was = f.head
		}
		if cap(f.runs) > 5*window+16 {
			t.Errorf("window %d: room for %d runs", window, cap(f.runs))
		}
		if moves > 40 {
			t.Errorf("window %d: the runs were moved %d times in 20 windows, want at most twice in each", window, moves)
		}
	}
}
