package load

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
)

// once applies f to the first batch of at least four echoes of a counted slice.
func once(f func(echoes [][]byte) [][]byte) func(*link, [][]byte) [][]byte {
	done := false
	return func(l *link, echoes [][]byte) [][]byte {
		if done || l.rig.load.plan.Load() == nil || len(echoes) < 4 {
			return echoes
		}
		done = true
		return f(echoes)
	}
}

// put changes the header of a message.
func put(msg []byte, f func(*message.Header)) {
	h, _ := message.Parse(msg)
	f(&h)
	h.Put(msg)
}

// Faults that answer a message, if wrongly: it is counted, its RTT is not, and
// the conversation goes on.
func TestWrongEchoes(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  func(echoes [][]byte) [][]byte
		counts map[string]int64
		bad    int64 // echoes that are no round trip
		words  string
	}{
		"first byte of a body": {func(e [][]byte) [][]byte {
			e[1][message.HeaderBytes] ^= 1
			return e
		}, map[string]int64{control.CountContent: 1}, 1, "the body of the echo of message 2 differs"},
		"last byte of a body": {func(e [][]byte) [][]byte {
			e[3][len(e[3])-1] ^= 0x80
			return e
		}, map[string]int64{control.CountContent: 1}, 1, "the body of the echo of message 4 differs"},
		"bodies exchanged": {func(e [][]byte) [][]byte {
			a, b := e[0][message.HeaderBytes:], e[1][message.HeaderBytes:]
			was := bytes.Clone(a)
			copy(a, b)
			copy(b, was)
			return e
		}, map[string]int64{control.CountContent: 2}, 2, "the body of the echo of message 1 differs"},
		"too short": {func(e [][]byte) [][]byte {
			e[0] = e[0][:63]
			return e
		}, map[string]int64{control.CountContent: 1}, 1, "the echo of message 1 has 63 bytes instead of 64"},
		"too long": {func(e [][]byte) [][]byte {
			e[0] = append(e[0], 0)
			return e
		}, map[string]int64{control.CountContent: 1}, 1, "the echo of message 1 has 65 bytes instead of 64"},
		"work skipped": {func(e [][]byte) [][]byte {
			message.PutResult(e[2], 0)
			return e
		}, map[string]int64{control.CountContent: 1}, 1, "the work's result for message 3 is 0x0 instead of"},
		"two exchanged": {func(e [][]byte) [][]byte {
			e[0], e[1] = e[1], e[0]
			return e
		}, map[string]int64{control.CountOrder: 1}, 1, "the echo of message 2 overtook an older one"},
		"all backwards": {func(e [][]byte) [][]byte {
			e[0], e[1], e[2], e[3] = e[3], e[2], e[1], e[0]
			return e
		}, map[string]int64{control.CountOrder: 3}, 3, "the echo of message 4 overtook an older one"},
		"answered twice": {func(e [][]byte) [][]byte {
			return append(e, e[1])
		}, map[string]int64{control.CountDuplicate: 1}, 0, "message 2 was answered twice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Window: 4, Work: 5, CheckAll: true}, 1).verified()
			r.mangle = once(tc.fault)
			r.start(control.Slice{Length: 10 * ms, Counted: true})
			r.finish()
			res := r.result()
			y := res.Targets[0]
			wantCounts(t, y, tc.counts)
			if len(y.FirstErrors) == 0 || !strings.HasPrefix(y.FirstErrors[0], "client 0: "+tc.words) {
				t.Errorf("first errors %q, want %q", y.FirstErrors, tc.words)
			}
			if got, want := y.Counts[control.CountSent], int64(400); got != want {
				t.Errorf("sent %d, want %d: the conversation goes on", got, want)
			}
			// The last window comes back when the plan is over.
			if got, want := res.Slices[0].RoundTrips, 396-tc.bad; got != want {
				t.Errorf("%d round trips, want %d", got, want)
			}
			if got, want := histogram(t, y).Count(), 396-tc.bad; got != want {
				t.Errorf("%d RTTs, want %d", got, want)
			}
		})
	}
}

// Faults after which nothing on the connection can be believed.
func TestNonsenseCloses(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(echoes [][]byte) [][]byte
		want  error
		words string
	}{
		"another's message": {func(e [][]byte) [][]byte {
			put(e[1], func(h *message.Header) { h.Client++ })
			return e
		}, errLied, "an echo answers no message that was sent: 64 bytes beginning 6e 6d 78 31 01 00 00 00 02"},
		"not sent yet": {func(e [][]byte) [][]byte {
			put(e[1], func(h *message.Header) { h.Seq = 1000 })
			return e
		}, errLied, "an echo answers no message that was sent: message 1000"},
		"the next to be sent": {func(e [][]byte) [][]byte {
			put(e[1], func(h *message.Header) { h.Seq = 5 })
			return e
		}, errLied, "an echo answers no message that was sent: message 5"},
		"from before the first": {func(e [][]byte) [][]byte {
			put(e[1], func(h *message.Header) { h.Seq = 1<<32 - 1 })
			return e
		}, errLied, "an echo answers no message that was sent: message 4294967295"},
		"no magic": {func(e [][]byte) [][]byte {
			e[1][0]++
			return e
		}, errLied, "an echo answers no message that was sent: 64 bytes beginning 6f 6d 78 31"},
		"shorter than a header": {func(e [][]byte) [][]byte {
			e[1] = e[1][:3]
			return e
		}, errLied, "an echo answers no message that was sent: 3 bytes beginning 6e 6d 78"},
		"length of nought": {func(e [][]byte) [][]byte {
			e[1] = nil
			return e
		}, protocol.ErrMalformed, "malformed: length 0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Window: 4, Clients: 2}, 1).verified()
			first := r.links[0]
			good := once(tc.fault)
			r.mangle = func(l *link, echoes [][]byte) [][]byte {
				if l == first {
					return good(l, echoes)
				}
				return echoes
			}
			r.start(control.Slice{Length: 10 * ms, Counted: true})
			r.finish()
			if !errors.Is(first.err, tc.want) {
				t.Errorf("Data = %v, want %v", first.err, tc.want)
			}
			res := r.result()
			y := res.Targets[0]
			wantCounts(t, y, map[string]int64{control.CountContent: 1, control.CountDisconnects: 1, control.CountUnfinished: 3})
			if len(y.FirstErrors) != 2 || !strings.Contains(y.FirstErrors[0], tc.words) {
				t.Errorf("first errors %q, want %q and that the connection is gone", y.FirstErrors, tc.words)
			}
			if got, want := res.Slices[0].RoundTrips, int64(1+396); got != want {
				t.Errorf("%d round trips, want %d: the one before the fault, and the other connection's", got, want)
			}
		})
	}
}

// While counting, one body in 64 is looked at: the chosen ones.
func TestChosenBodiesAreChecked(t *testing.T) {
	r := newRig(t, Config{Window: 16, Seed: 7}, 1).verified()
	chosen := int64(0)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		for _, msg := range echoes {
			msg[message.HeaderBytes+9] ^= 1
			if now := r.now + r.tick; now < 1110*ms && r.load.bodies.Chosen(0, header(t, msg).Seq) {
				chosen++
			}
		}
		return echoes
	}
	r.now = 1000 * ms
	r.start(control.Slice{Length: 110 * ms, Counted: true})
	r.runFor(110*ms - r.tick)
	y := r.result().Targets[0]
	if got := y.Counts[control.CountContent]; got != chosen || chosen < 100 {
		t.Errorf("%d of %d wrong bodies found, want the %d chosen ones", got, y.Counts[control.CountReceived], chosen)
	}
	if len(y.FirstErrors) != keptErrors {
		t.Errorf("%d error texts kept, want %d", len(y.FirstErrors), keptErrors)
	}
}

// Before counting every body is.
func TestEveryBodyIsCheckedInWarmUp(t *testing.T) {
	r := newRig(t, Config{Window: 16}, 1).verified()
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		for _, msg := range echoes {
			msg[40] ^= 1
		}
		return echoes
	}
	r.start(control.Slice{Length: 10 * ms})
	r.runFor(10*ms - r.tick)
	c := r.result().Targets[0].Counts
	if got, want := c[control.CountContent], c[control.CountReceived]; got != want || want == 0 {
		t.Errorf("%d of %d wrong bodies found, want all", got, want)
	}
}

// Only the work's result shows that the server computes what it was asked to:
// it is looked at in every echo, checked body or not.
func TestEveryWorkResultIsChecked(t *testing.T) {
	r := newRig(t, Config{Window: 16, Work: 100}, 1).verified()
	lazy := message.NewWork(99)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		for _, msg := range echoes {
			h := header(t, msg)
			message.PutResult(msg, lazy.Do(h.Client, h.Seq))
		}
		return echoes
	}
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.runFor(10*ms - r.tick)
	res := r.result()
	c := res.Targets[0].Counts
	if got, want := c[control.CountContent], c[control.CountReceived]; got != want || want == 0 {
		t.Errorf("%d of %d echoes with less work found, want all", got, want)
	}
	if res.Slices[0].RoundTrips != 0 {
		t.Errorf("%d round trips of a server that skips work, want none", res.Slices[0].RoundTrips)
	}
}
