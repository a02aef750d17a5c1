package load

import (
	"errors"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/transport"
)

var errReset = errors.New("connection reset")

// A connection that ends before the plan does is a disconnect, whenever that is.
func TestDisconnects(t *testing.T) {
	plan := control.Slice{Length: 10 * ms, Counted: true}
	for name, tc := range map[string]struct {
		run        func(r *rig, l *link)
		unfinished int64
		words      string
	}{
		"never opened": {func(r *rig, l *link) {
			l.closed = true
			l.client.Close(errReset)
			r.open()
			r.run(2)
			r.start(plan)
		}, 0, "connection reset"},
		"while verifying": {func(r *rig, l *link) {
			r.open()
			l.close(errReset)
			r.run(2)
			r.start(plan)
		}, 0, "connection reset"},
		"before the plan": {func(r *rig, l *link) {
			r.verified()
			l.close(errReset)
			r.start(plan)
		}, 0, "connection reset"},
		"in the plan": {func(r *rig, l *link) {
			r.verified().start(plan)
			r.runFor(5 * ms)
			l.close(errReset)
		}, 4, "connection reset"},
		"without a reason": {func(r *rig, l *link) {
			r.verified().start(plan)
			r.runFor(5 * ms)
			l.close(nil)
		}, 4, "the peer closed the connection while it was in use"},
		"by the peer's end": {func(r *rig, l *link) {
			r.verified().start(plan)
			r.runFor(5 * ms)
			out, err := l.client.End([]byte("out"))
			if string(out) != "out" || !errors.Is(err, errOver) {
				r.t.Errorf("End = %q, %v; want out as it was and %v", out, err, errOver)
			}
			l.close(err)
		}, 4, "the peer closed the connection while it was in use"},
		"while draining": {func(r *rig, l *link) {
			r.verified().start(plan)
			r.runFor(10*ms - 2*r.tick)
			r.mangle = func(x *link, echoes [][]byte) [][]byte {
				if x == l {
					return nil
				}
				return echoes
			}
			r.runFor(5 * ms)
			l.close(errReset)
		}, 4, "connection reset"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Clients: 3}, 1)
			tc.run(r, r.links[1])
			r.finish()
			y := r.result().Targets[0]
			want := map[string]int64{control.CountDisconnects: 1}
			if tc.unfinished > 0 {
				want[control.CountUnfinished] = tc.unfinished
			}
			wantCounts(t, y, want)
			if len(y.FirstErrors) != 1 || !strings.HasSuffix(y.FirstErrors[0], "client 1: disconnected: "+tc.words) {
				t.Errorf("first errors %q, want that client 1 was disconnected: %s", y.FirstErrors, tc.words)
			}
			if err := r.load.Err(); err == nil {
				t.Error("Err() = nil")
			}
		})
	}
}

func TestVerificationEndsThoughAllAreGone(t *testing.T) {
	r := newRig(t, Config{Clients: 2}, 1)
	for _, l := range r.links {
		l.close(errReset)
	}
	if !closed(r.load.Verified()) || !closed(r.load.Done()) {
		t.Error("Verified or Done is open although every session is gone")
	}
	if err := r.load.Err(); err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("Err() = %v, want why", err)
	}
}

func TestEndingAfterThePlanIsNoDisconnect(t *testing.T) {
	r := newRig(t, Config{Clients: 2}, 1).verified()
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	for _, l := range r.links {
		out, err := l.client.End(nil)
		if len(out) > 0 || err != nil {
			t.Errorf("End = % x, %v; want nothing", out, err)
		}
		l.client.Close(errReset)
	}
	y := r.result().Targets[0]
	wantCounts(t, y, nil)
	if err := r.load.Err(); err != nil || len(y.FirstErrors) > 0 {
		t.Errorf("Err() = %v, first errors %q; want none", err, y.FirstErrors)
	}
}

// What is in flight when the drain is given up is unfinished: neither an error
// of its own nor lost from the count.
func TestUnfinished(t *testing.T) {
	const clients, window = 5, 16
	r := newRig(t, Config{Clients: clients, Window: window}, 1).verified()
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.runFor(5 * ms)
	for i, l := range r.links { // each server stops at another place
		l.down = l.pack(l.messages(l.down)[:i*3])
	}
	r.mangle = func(*link, [][]byte) [][]byte { return nil }
	r.runFor(1000 * ms)
	if closed(r.load.Done()) {
		t.Error("Done is closed with messages in flight")
	}
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountUnfinished: clients * window})
	if got, want := y.Counts[control.CountReceived], int64(clients*window*50+3*(0+1+2+3+4)); got != want {
		t.Errorf("received %d, want %d", got, want)
	}
	if got, want := r.servers[0].Counts().Messages-clients, y.Counts[control.CountSent]; got != want {
		t.Errorf("the server got %d messages, the load sent %d", got, want)
	}
}

// Sending stops at the plan's end and what is out then drains, to the message.
func TestDrain(t *testing.T) {
	r := newRig(t, Config{Clients: 400, Window: 16, Shards: 8}, 1).verified()
	r.tick = ms
	begin := r.now
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	for i, l := range r.links {
		if last := l.sent[len(l.sent)-1]; last != begin+9*ms {
			t.Fatalf("session %d sent its last message %d ns into the plan, want %d", i, last-begin, 9*ms)
		}
	}
	y := r.result().Targets[0]
	wantCounts(t, y, nil)
	if got, want := y.Counts[control.CountReceived], int64(400*16*10); got != want {
		t.Errorf("received %d, want %d", got, want)
	}
	if got, want := histogram(t, y).Count(), int64(400*16*9); got != want {
		t.Errorf("%d RTTs, want %d: what came back after the end is not counted", got, want)
	}
}

// closing is a codec whose n-th message from now is the last.
type closing struct {
	protocol.Codec
	n int
}

func (c *closing) Next(in, out []byte) (msg []byte, used int, o []byte, err error) {
	msg, used, o, err = c.Codec.Next(in, out)
	if c.n--; c.n == 0 {
		err = protocol.ErrClosed
	}
	return msg, used, o, err
}

// A protocol that closes in good order does so too early while the plan runs;
// the echo that came with it counts.
func TestClosedInGoodOrder(t *testing.T) {
	p := tcp.Protocol()
	p.Client = func() protocol.Codec { return &closing{Codec: tcp.Protocol().Client()} }
	r := newRig(t, Config{Protocol: p, Clients: 1, Window: 2}, 1).verified()
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	l := r.links[0]
	l.client.codec.(*closing).n = 2
	r.run(1)
	if !errors.Is(l.err, transport.ErrDone) {
		t.Errorf("Data = %v, want %v", l.err, transport.ErrDone)
	}
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, map[string]int64{control.CountDisconnects: 1})
	if got, want := y.Counts[control.CountReceived], int64(2); got != want {
		t.Errorf("%d echoes were received in the plan, want %d", got, want)
	}
}
