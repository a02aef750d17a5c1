package load

import (
	"bytes"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
)

// forged is a datagram that says what a message's header says.
func forged(client, seq uint32, length int) []byte {
	b := make([]byte, length)
	message.Header{Client: client, Seq: seq}.Put(b)
	return b
}

// Anyone can send to a datagram socket: what makes no sense is counted, and the
// session goes on.
func TestHostileDatagramsEndNothing(t *testing.T) {
	r := newRig(t, Config{Protocol: udp.Protocol(), Window: 4, LossAfter: lossAfter}, 1).verified()
	r.start(control.Slice{Length: 20 * ms, Counted: true})
	hostile := [][]byte{
		{0},
		[]byte("15 bytes of it."),
		bytes.Repeat([]byte{0xff}, udp.MaxPayload),
		forged(7, 1, 64),     // another client's
		forged(0, 1<<31, 64), // never sent
	}
	for i, in := range hostile {
		r.run(10)
		if out, err := r.links[0].client.Data(in, nil); len(out) > 0 || err != nil {
			t.Errorf("datagram %d was answered with %d bytes, error %v", i, len(out), err)
		}
	}
	r.finish()
	res := r.result()
	wantCounts(t, res.Targets[0], map[string]int64{control.CountContent: int64(len(hostile))})
	if got, want := res.Slices[0].RoundTrips, int64(4*(20*ms/r.tick-1)); got < want {
		t.Errorf("%d round trips beside the hostile datagrams, want at least %d", got, want)
	}
	if len(res.Targets[0].FirstErrors) == 0 {
		t.Error("nothing says what the hostile datagrams were")
	}
}

// FuzzDatagram has whatever comes counted: no error, no panic, every message of
// the load's own accounted for, and the plan ends.
func FuzzDatagram(f *testing.F) {
	f.Add([]byte{}, uint8(1))
	f.Add([]byte("hello"), uint8(2))
	for _, seq := range []uint32{0, 1, 5, 9, 1 << 31} {
		f.Add(forged(0, seq, 64), uint8(3))
		f.Add(forged(0, seq, 17), uint8(200))
		f.Add(forged(1, seq, 64), uint8(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, after uint8) {
		r := newRig(t, Config{Protocol: udp.Protocol(), Window: 4, LossAfter: lossAfter, CheckAll: true}, 1).verified()
		r.start(control.Slice{Length: 10 * ms, Counted: true})
		r.run(int(after))
		l := r.links[0]
		for range 2 {
			out, err := l.client.Data(bytes.Clone(in), nil)
			if err != nil {
				t.Fatalf("a datagram of %d bytes ended the session: %v", len(in), err)
			}
			l.take(out, nil)
		}
		r.finish()
		if y := r.result().Targets[0]; y.Counts[control.CountUnfinished] != 0 || y.Counts[control.CountDisconnects] != 0 {
			t.Errorf("counts %v", y.Counts)
		}
	})
}
