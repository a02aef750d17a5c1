package load

import (
	"math/rand/v2"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
)

const lossAfter = 2 * ms

func datagramRig(t *testing.T, clients, window int) *rig {
	t.Helper()
	return newRig(t, Config{Protocol: udp.Protocol(), Clients: clients, Window: window, LossAfter: lossAfter}, 1)
}

func TestDatagrams(t *testing.T) {
	r := datagramRig(t, 3, 4).verified()
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	res := r.result()
	wantCounts(t, res.Targets[0], nil)
	if got, want := res.Targets[0].Counts[control.CountSent], int64(3*4*(1+24)); got < want {
		t.Errorf("sent %d, want at least %d", got, want)
	}
	// Each datagram is a call of its own and refills its own slot.
	if c := res.Targets[0].Counts; c[control.CountReads] != c[control.CountReceived] {
		t.Errorf("%d reads for %d datagrams", c[control.CountReads], c[control.CountReceived])
	}
}

// One datagram in a hundred is dropped: each frees its slot in time, the load
// goes on and ends on time.
func TestLossFreesTheSlot(t *testing.T) {
	for _, window := range []int{1, 8} {
		r := datagramRig(t, 2, window).verified()
		n, dropped := 0, int64(0)
		r.mangle = func(l *link, echoes [][]byte) (kept [][]byte) {
			for _, msg := range echoes {
				if n++; n%100 == 0 {
					dropped++
				} else {
					kept = append(kept, msg)
				}
			}
			return kept
		}
		begin := r.now
		r.start(control.Slice{Length: 200 * ms, Counted: true})
		r.finish()
		y := r.result().Targets[0]
		wantCounts(t, y, map[string]int64{control.CountLost: dropped})
		if dropped < 10 {
			t.Errorf("window %d: only %d datagrams dropped: the load stopped", window, dropped)
		}
		if took := r.now - begin; took > 200*ms+lossAfter+r.tick {
			t.Errorf("window %d: the run took %d ns, want at most %d", window, took, 200*ms+lossAfter)
		}
		if got, want := y.MaxRTT, r.tick; got != want {
			t.Errorf("window %d: MaxRTT = %d, want %d: what is lost has none", window, got, want)
		}
	}
}

func TestAllLost(t *testing.T) {
	r := datagramRig(t, 1, 4).verified()
	r.mangle = func(*link, [][]byte) [][]byte { return nil }
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	res := r.result()
	wantCounts(t, res.Targets[0], map[string]int64{control.CountLost: 4 * 5}) // at 0, 2, … 8 ms
	if res.Slices[0].RoundTrips != 0 || histogram(t, res.Targets[0]).Count() != 0 {
		t.Errorf("%d round trips although all was lost", res.Slices[0].RoundTrips)
	}
}

func TestLateAndDuplicate(t *testing.T) {
	r := datagramRig(t, 1, 4).verified()
	var held [][]byte
	first := true
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if first {
			first = false
			held = append(held, echoes[0], echoes[1]) // these come too late
			return append(echoes[2:], echoes[2])      // this one comes twice
		}
		return echoes
	}
	r.start(control.Slice{Length: 20 * ms, Counted: true})
	r.runFor(5 * ms)
	r.links[0].data(r.links[0].pack(held))
	r.links[0].data(r.links[0].pack(held[:1])) // late, then again
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountLost: 2, control.CountLate: 2, control.CountDuplicate: 2})
	if got, want := len(y.FirstErrors), 2; got != want {
		t.Errorf("first errors %q, want the two duplicates: loss is none", y.FirstErrors)
	}
}

// Datagrams may overtake each other; each has its own RTT.
func TestReorderedDatagrams(t *testing.T) {
	r := datagramRig(t, 2, 16).verified()
	rng := rand.New(rand.NewPCG(1, 2))
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		rng.Shuffle(len(echoes), func(i, j int) { echoes[i], echoes[j] = echoes[j], echoes[i] })
		return echoes
	}
	r.start(control.Slice{Length: 50 * ms, Counted: true})
	r.finish()
	res := r.result()
	wantCounts(t, res.Targets[0], nil)
	if s := res.Slices[0]; s.RTTSum != s.RoundTrips*r.tick || s.RoundTrips < 1000 {
		t.Errorf("%d round trips of %d ns altogether, want %d each", s.RoundTrips, s.RTTSum, r.tick)
	}
}

func TestVerificationIsTriedAgain(t *testing.T) {
	r := datagramRig(t, 2, 4)
	var held [][]byte
	tries := 0
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if tries++; tries <= 4 {
			held = append(held, echoes...)
			return nil
		}
		return echoes
	}
	r.open()
	r.runFor(2 * lossAfter)
	if closed(r.load.Verified()) {
		t.Error("Verified is closed with no exchange done")
	}
	r.runFor(lossAfter)
	if !closed(r.load.Verified()) {
		t.Fatal("Verified is open although the third exchange came back")
	}
	if err := r.load.Err(); err != nil {
		t.Errorf("Err() = %v: loss is none", err)
	}
	// What was lost before the plan is no part of it, though it may turn up there.
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.runFor(ms)
	for _, msg := range held {
		r.links[header(t, msg).Client].data(msg)
	}
	r.finish()
	wantCounts(t, r.result().Targets[0], map[string]int64{control.CountLate: 4})
}

// However many are lost, what is remembered of them is bounded.
func TestLostAreForgotten(t *testing.T) {
	r := datagramRig(t, 1, 512).verified()
	r.mangle = func(*link, [][]byte) [][]byte { return nil }
	r.start(control.Slice{Length: 100 * ms, Counted: true})
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountLost: 512 * 50})
	if got := len(r.links[0].client.lost); got > keptLost+512 {
		t.Errorf("%d lost datagrams are remembered, want at most about %d", got, keptLost)
	}
}

// Whatever the network does, each datagram ends up in one count, and the
// server's count agrees.
func TestEveryDatagramIsCounted(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 0))
		r := datagramRig(t, 3, 8).verified()
		kept := make(map[*link][][]byte)
		var dropped int64
		r.mangle = func(l *link, echoes [][]byte) [][]byte {
			var give [][]byte
			for _, msg := range echoes {
				switch rng.IntN(10) {
				case 0:
					dropped++
				case 1:
					kept[l] = append(kept[l], msg)
				case 2:
					give = append(give, msg, append([]byte(nil), msg...))
				default:
					give = append(give, msg)
				}
			}
			if rng.IntN(20) == 0 {
				give = append(give, kept[l]...)
				kept[l] = nil
			}
			rng.Shuffle(len(give), func(i, j int) { give[i], give[j] = give[j], give[i] })
			return give
		}
		r.start(control.Slice{Length: 50 * ms, Counted: true})
		r.finish()
		c := r.result().Targets[0].Counts // result checks the balance
		if got, want := r.servers[0].Counts().Messages-3, c[control.CountSent]; got != want {
			t.Errorf("seed %d: the server got %d datagrams, the load sent %d", seed, got, want)
		}
		for _, l := range r.links {
			dropped += int64(len(kept[l]))
		}
		if c[control.CountLost] != dropped+c[control.CountLate] {
			t.Errorf("seed %d: lost %d, want the %d that never came and the %d that came late", seed, c[control.CountLost], dropped, c[control.CountLate])
		}
		if c[control.CountUnfinished] != 0 || c[control.CountContent] != 0 || c[control.CountOrder] != 0 {
			t.Errorf("seed %d: %v", seed, c)
		}
	}
}

func TestLostWindowSurvivesTheWrap(t *testing.T) {
	r := datagramRig(t, 1, 8)
	r.links[0].client.next = 1<<32 - 13
	r.verified()
	n := 0
	r.mangle = func(l *link, echoes [][]byte) (kept [][]byte) {
		for _, msg := range echoes {
			if n++; n%3 > 0 {
				kept = append(kept, msg)
			}
		}
		return kept
	}
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountLost: int64(n / 3)})
	if n < 20 {
		t.Errorf("only %d datagrams sent: nothing wrapped", n)
	}
}

// An echo of the right client and number, but cut off, is wrong and not lost.
func TestTruncatedDatagram(t *testing.T) {
	r := datagramRig(t, 1, 1).verified()
	r.start(control.Slice{Length: ms, Counted: true})
	l := r.links[0]
	l.data(l.down[:message.HeaderBytes+1])
	l.down = nil
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountContent: 1, control.CountUnfinished: 1})
}
