package rawpoll

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestMailKeepsOutputs has a session answer in place, in its room and beyond it,
// and wants every datagram whole until all are cleared.
func TestMailKeepsOutputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	m := newMail()
	source := random(1 << 16)
	for range 200 {
		var want [][]byte
		size := 1 + rng.IntN(300)
		for i := range mailSlots {
			text := source[rng.IntN(1<<15):][:rng.IntN(1000)]
			out := append(m.room(), text...)
			if rng.IntN(3) == 0 {
				out = append(m.slot(i)[:0], text...)
			}
			m.add(out, size, nil)
			for len(text) > 0 {
				n := min(size, len(text))
				want = append(want, text[:n])
				text = text[n:]
			}
		}
		if len(m.out) != len(want) {
			t.Fatalf("%d datagrams, want %d", len(m.out), len(want))
		}
		for i := range want {
			if !bytes.Equal(m.out[i].data, want[i]) {
				t.Fatalf("datagram %d of %d was overwritten", i, len(want))
			}
		}
		m.clear()
	}
	if allocs := testing.AllocsPerRun(100, func() {
		m.add(append(m.room(), source[:1000]...), 100, nil)
		m.clear()
	}); allocs != 0 {
		t.Errorf("%v allocations once warm, want 0", allocs)
	}
}

// TestSlotsHoldTheLargest: nothing can be cut off, over IPv6 either.
func TestSlotsHoldTheLargest(t *testing.T) {
	if slotBytes <= 65535-8 {
		t.Errorf("slots of %d bytes, want more than the 65,527 that a UDP header can announce", slotBytes)
	}
}
