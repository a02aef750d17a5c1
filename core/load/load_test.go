package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

func TestNewRefuses(t *testing.T) {
	good := Config{Protocol: tcp.Protocol(), Payload: 64, Clients: 1, Window: 1, Clock: func() int64 { return 1 }}
	if _, err := New(good, 1); err != nil {
		t.Fatalf("New refuses a good config: %v", err)
	}
	for name, tc := range map[string]struct {
		change  func(*Config)
		targets int
		want    string
	}{
		"no target":     {func(*Config) {}, 0, "0 targets, 1 clients, window 1: each must be 1 or more"},
		"no client":     {func(c *Config) { c.Clients = 0 }, 1, "1 targets, 0 clients, window 1"},
		"no window":     {func(c *Config) { c.Window = 0 }, 1, "1 targets, 1 clients, window 0"},
		"small payload": {func(c *Config) { c.Payload = 15 }, 1, "payload 15 lies outside 16 to 16777216"},
		"big payload":   {func(c *Config) { c.Payload = tcp.MaxPayload + 1 }, 1, "payload 16777217 lies outside 16 to 16777216"},
		"no clock":      {func(c *Config) { c.Clock = nil }, 1, "no clock"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			tc.change(&cfg)
			if _, err := New(cfg, tc.targets); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New = %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	slice := control.Slice{Length: ms}
	r := newRig(t, Config{Clients: 3}, 2)
	r.open()
	if err := r.load.Start([]control.Slice{slice}); err == nil || !strings.Contains(err.Error(), "the checked exchange of 6 sessions is still out") {
		t.Errorf("Start before the checked exchanges = %v", err)
	}
	r.run(2)
	if _, err := r.load.Result(); err == nil {
		t.Error("Result before Start gives no error")
	}
	for want, plan := range map[string][]control.Slice{
		"the plan is empty": nil,
		"slice 0 of the plan makes no sense: target 2 of 2":  {{Target: 2, Length: ms}},
		"slice 1 of the plan makes no sense: target -1 of 2": {slice, {Target: -1, Length: ms}},
		"length 0 ns":       {{}},
		"settle 1000000 ns": {{Length: ms, Settle: ms}},
		"settle -1 ns":      {{Length: ms, Settle: -1}},
	} {
		if err := r.load.Start(plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start(%+v) = %v, want an error with %q", plan, err, want)
		}
	}
	r.start(slice)
	if err := r.load.Start([]control.Slice{slice}); err == nil || !strings.Contains(err.Error(), "already measured") {
		t.Errorf("a second Start = %v", err)
	}
}

func TestVerification(t *testing.T) {
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprintf("batch %t", batch), func(t *testing.T) {
			r := newRig(t, Config{Clients: 3, Window: 4, Batch: batch}, 2)
			r.open()
			each := 1
			if batch {
				each = 4 // the server answers no less
			}
			for i, l := range r.links {
				if closed(r.load.Verified()) {
					t.Errorf("Verified is closed with the exchanges of %d sessions out", len(r.links)-i)
				}
				if got := len(l.sent); got != each {
					t.Errorf("session %d sent %d messages to be verified, want %d", i, got, each)
				}
				l.answer()
				l.step()
			}
			if !closed(r.load.Verified()) {
				t.Error("Verified is open although every exchange came back")
			}
			if err := r.load.Err(); err != nil {
				t.Errorf("Err() = %v", err)
			}
			r.runFor(10 * ms)
			r.wake()
			for i, l := range r.links {
				if got := len(l.sent); got != each {
					t.Errorf("session %d sent %d messages before the plan, want %d", i, got, each)
				}
			}
		})
	}
}

func TestVerificationIsNotCounted(t *testing.T) {
	r := newRig(t, Config{}, 1).verified()
	r.start(control.Slice{Length: 10 * ms, Counted: true})
	r.finish()
	y := r.result().Targets[0]
	wantCounts(t, y, nil)
	// Four messages each tick: at the start and at 99 ticks within the plan.
	if got, want := y.Counts[control.CountSent], int64(4*100); got != want {
		t.Errorf("sent %d, want %d", got, want)
	}
	if got, want := r.servers[0].Counts().Messages, y.Counts[control.CountReceived]+1; got != want {
		t.Errorf("the server answered %d messages, want the %d received and the one of the verification", got, want)
	}
	if got, want := y.Counts[control.CountReads], int64(100); got != want {
		t.Errorf("%d reads, want %d", got, want)
	}
}

func TestVerificationChecksWholeBody(t *testing.T) {
	r := newRig(t, Config{Payload: 1024}, 2)
	r.mangle = func(l *link, echoes [][]byte) [][]byte {
		if l.target == 1 {
			echoes[0][1023] ^= 1
		}
		return echoes
	}
	r.open()
	r.run(2)
	if !closed(r.load.Verified()) {
		t.Fatal("Verified is open although every exchange came back")
	}
	err := r.load.Err()
	if want := "target 1: client 1: the body of the echo of message 0 differs"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Err() = %v, want %q", err, want)
	}
}

// Reads that bring no whole message are reads too.
func TestReadsOfPartsCount(t *testing.T) {
	r := newRig(t, Config{Window: 1}, 1).verified()
	r.start(control.Slice{Length: ms, Counted: true})
	l := r.links[0]
	for _, in := range [][]byte{l.down[:2], l.down[2:30], l.down[30:]} {
		l.take(l.client.Data(in, nil))
	}
	l.down = nil
	c := r.result().Targets[0].Counts
	if c[control.CountReceived] != 1 || c[control.CountReads] != 3 || c[control.CountSent] != 2 {
		t.Errorf("counts %v, want 1 received in 3 reads, 2 sent", c)
	}
}
