package load

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
)

// In steady state a call allocates nothing: whole or cut, in batches, and with
// datagrams that overtake each other.
func TestNothingAllocatesOnceWarm(t *testing.T) {
	const window, payload = 16, 64
	for name, tc := range map[string]struct {
		protocol protocol.Protocol
		batch    bool
		call     int // most bytes handed over at once
	}{
		"stream":     {tcp.Protocol(), false, 1 << 20},
		"stream cut": {tcp.Protocol(), false, 100},
		"batch":      {tcp.Protocol(), true, 1 << 20},
		"datagrams":  {udp.Protocol(), false, payload},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Protocol: tc.protocol, Batch: tc.batch, Window: window, Payload: payload, Work: 3, LossAfter: 1 << 50}, 1).verified()
			r.start(control.Slice{Length: 1 << 60, Counted: true})
			l := r.links[0]
			var up, room []byte
			down := l.down
			must := func(out []byte, err error) []byte {
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			trip := func() {
				up = up[:0]
				for in := down; len(in) > 0; in = in[min(len(in), tc.call):] {
					up = must(l.client.Data(in[:min(len(in), tc.call)], up))
				}
				down = down[:0]
				for in := up; len(in) > 0; in = in[min(len(in), tc.call):] {
					down = append(down, must(l.server.Data(in[:min(len(in), tc.call)], room))...)
				}
				if tc.protocol.Datagram {
					first := [payload]byte(down)
					copy(down, down[payload:2*payload])
					copy(down[payload:], first[:])
				}
			}
			room = make([]byte, 0, 4096)
			for range 20 {
				trip()
			}
			if n := testing.AllocsPerRun(100, trip); n != 0 {
				t.Errorf("%g allocations for a window of %d, want 0", n, window)
			}
			y := r.result().Targets[0]
			wantCounts(t, y, map[string]int64{control.CountUnfinished: window})
			if got, want := y.Counts[control.CountReceived], int64(121*window); got != want {
				t.Errorf("received %d, want %d", got, want)
			}
		})
	}
}
