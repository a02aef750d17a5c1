package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// builds are rounds of two builds, the new one with so many times the throughput
// and the CPU per round trip of the old one.
func builds(rounds int, rate, cpu func(round int) float64) []record.Record {
	var recs []record.Record
	for round := 1; round <= rounds; round++ {
		for _, name := range []string{oldName, newName} {
			r, c := 1.0, 1.0
			if name == newName {
				r, c = rate(round), cpu(round)
			}
			recs = append(recs, record.Record{RunID: "r", Group: fmt.Sprint(round), Round: round, Attempt: 1, Status: record.OK,
				Cell:    cell.Cell{Runtime: name, Execution: cell.Callback, Protocol: "tcp"},
				Metrics: &record.Metrics{RoundTripsPerSecond: r}, Server: &record.Process{CPUMicrosPerTrip: &c}})
		}
	}
	return recs
}

func TestGate(t *testing.T) {
	run := &record.Run{RunID: "r", Suite: abSuite, Baseline: cell.Contender{Runtime: oldName, Execution: cell.Callback}, Delta: 0.03}
	f := abFlags{rounds: 10, delta: "3%", gate: "throughput=3%,cpu=5%"}
	g, err := f.gates()
	if err != nil {
		t.Fatal(err)
	}
	always := func(v float64) func(int) float64 {
		return func(round int) float64 { return v * (1 + float64(round%3-1)/1000) }
	}
	wide := func(round int) float64 { return 0.9 + 0.3*float64(round%2) }
	for _, tt := range []struct {
		name      string
		rate, cpu func(int) float64
		says      string // "": the gate is passed
		breached  int
	}{
		{"as before", always(1), always(1), "", 0},
		{"a gain", always(1.2), always(0.7), "", 0},
		{"losses within the limits", always(0.98), always(1.04), "", 0},
		{"less throughput", always(0.9), always(1), "throughput is 0.9 × that of old [0.899, 0.9", 1},
		{"more CPU", always(1), always(1.1), "cpu is 1.1 × that of old", 1},
		{"both", always(0.9), always(1.1), "; cpu is", 2},
		{"nothing certain", wide, always(1), "", 0},
	} {
		got := g.judge(run, builds(10, tt.rate, tt.cpu), 1, 10)
		switch {
		case tt.says == "" && got != nil, tt.says != "" && (got == nil || !strings.Contains(got.Error(), tt.says) || len(got.breached) != tt.breached):
			t.Errorf("%s: %v, want one that says %q", tt.name, got, tt.says)
		}
	}
	// A block is judged by itself.
	half := builds(20, func(round int) float64 {
		if round <= 10 {
			return 0.8
		}
		return 1.01
	}, always(1))
	if got := g.judge(run, half, 1, 10); got == nil || len(got.breached) != 1 {
		t.Errorf("the first block: %v, want a breach", got)
	} else if again := got.breached.judge(run, half, 11, 20); again != nil {
		t.Errorf("the second block: %v, want it passed", again)
	}
	// What cannot be judged does not pass.
	recs := builds(10, always(1), always(1))
	recs[3].Validity.Flags = []string{record.FlagLoadBound}
	if got := g.judge(run, recs, 1, 10); got == nil || len(got.breached) != 0 || !strings.Contains(got.Error(), "throughput: there is no ratio") {
		t.Errorf("a lower bound: %v, want one that cannot be judged", got)
	}
	if got := g.judge(run, builds(6, always(1), always(1)), 1, 10); got == nil || !strings.Contains(got.Error(), "6 good rounds, 7 are needed") {
		t.Errorf("six rounds: %v", got)
	}
	if got := g.judge(run, nil, 1, 10); got == nil || !strings.Contains(got.Error(), "no good round in common") {
		t.Errorf("no rounds: %v", got)
	}
	if got := gate(nil).judge(run, nil, 1, 10); got != nil {
		t.Errorf("no gate: %v", got)
	}
}

func TestGateMisuse(t *testing.T) {
	for _, tt := range []struct {
		f    abFlags
		says string
	}{
		{abFlags{rounds: 10, delta: "3%", gate: "speed=3%"}, `no limit on "speed": choose from throughput, cpu, p50, p99`},
		{abFlags{rounds: 10, delta: "3%", gate: "throughput"}, "no unit; write per cent"},
		{abFlags{rounds: 10, delta: "3%", gate: "throughput=3"}, "no unit; write per cent"},
		{abFlags{rounds: 6, delta: "3%", gate: "throughput=3%"}, "take --rounds 7 or more"},
		{abFlags{rounds: 0, delta: "3%"}, "--rounds: 0 lies outside"},
		{abFlags{rounds: 10, delta: "x"}, "--delta"},
	} {
		if _, err := tt.f.gates(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want an error that says %q", tt.f, err, tt.says)
		}
	}
	for _, m := range compare.Gated() {
		if m.Of == nil {
			t.Errorf("%s is taken from nowhere", m.Name)
		}
	}
}
