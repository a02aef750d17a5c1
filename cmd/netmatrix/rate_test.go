package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/record"
)

// 2000 round trips a second are offered, all of them sent and echoed, and the
// record says under its fixed names what part of the time was waiting. The load's
// own lateness is judged in the record: a busy machine may be the reason.
func TestBenchAtARate(t *testing.T) {
	w := newWorkspace(t, anySuite)
	r := w.netmatrix(t, "bench", "--runtime", "rawpoll", "--rate", "2000", "--gaps", "exponential", "--seed", "5", "--clients", "4",
		"--payload", "64", "--warmup", "100ms", "--measure", "900ms")
	recs := decodeRecords(t, r.stdout)
	if len(recs) != 1 {
		t.Fatalf("%d records: %s", len(recs), r.stderr)
	}
	rec := recs[0]
	switch {
	case r.code == exitOK && rec.Status == record.OK:
		checkMeasured(t, rec, rec.Cell)
	case r.code != exitTrials || !strings.Contains(rec.Reason, "the load could not keep the rate of 2000/s"):
		t.Fatalf("exit code %d, %s: %s", r.code, rec.Status, rec.Reason)
	}
	var fields struct {
		Cell    struct{ Rate float64 }
		Metrics map[string]any
	}
	if err := json.Unmarshal([]byte(r.stdout), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rtt_us", "rtt_sent_us", "slip_us", "rtt_histogram", "rtt_sent_histogram", "slip_histogram", "unsent", "blocked", "tardy"} {
		if fields.Metrics[name] == nil {
			t.Errorf("metrics.%s is missing", name)
		}
	}
	if got := fields.Metrics["rtt_from"]; got != "intended" || fields.Metrics["gaps"] != "exponential" || fields.Cell.Rate != 2000 {
		t.Errorf("rtt_from %v, gaps %v, rate %v", got, fields.Metrics["gaps"], fields.Cell.Rate)
	}
	// Exponential gaps: a standard deviation of 45 in 2000.
	if got := rec.Metrics.OfferedPerSecond; math.Abs(got-2000) > 225 {
		t.Errorf("%g/s were offered", got)
	}
	if !strings.HasSuffix(rec.Provenance.Command, "--rate 2000 --gaps exponential") {
		t.Errorf("the command does not repeat it: %s", rec.Provenance.Command)
	}
}

// With fixed gaps the count is exact, whatever the machine does, and what was
// achieved in the counted time is within a hundredth of it if the load kept up.
func TestFixedRateIsExact(t *testing.T) {
	w := newWorkspace(t, anySuite)
	r := w.netmatrix(t, "bench", "--runtime", "rawpoll", "--rate", "2000", "--clients", "3", "--payload", "64", "--warmup", "0", "--measure", "1s")
	recs := decodeRecords(t, r.stdout)
	if len(recs) != 1 || recs[0].Metrics == nil {
		t.Fatalf("no record with metrics: %s", r.stderr)
	}
	m := recs[0].Metrics
	if m.OfferedPerSecond != 2000 || m.Gaps != "fixed" {
		t.Errorf("%g/s were offered with gaps %s", m.OfferedPerSecond, m.Gaps)
	}
	if got := m.RoundTripsPerSecond; r.code == exitOK && math.Abs(got-2000) > 20 {
		t.Errorf("%g/s were achieved", got)
	}
}

func TestMisuseOfRates(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--rate", "-1"}, "rate: -1 lies outside"},
		{[]string{"--rate", "NaN"}, "rate: NaN lies outside"},
		{[]string{"--rate", "fast"}, "fast"},
		{[]string{"--gaps", "fixed"}, "--gaps: a closed loop has none: give a --rate too"},
		{[]string{"--rate", "10", "--gaps", "uneven"}, `--gaps: "uneven" is neither fixed nor exponential`},
	} {
		r := local(append([]string{"bench", "--runtime", "rawpoll"}, c.args...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: exit code %d, stderr %q; want %d and %q", c.args, r.code, r.stderr, exitUsage, c.says)
		}
	}
}
