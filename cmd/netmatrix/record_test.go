package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/hist"
	"github.com/netmatrix/netmatrix/core/record"
)

// decodeRecords reads JSON Lines of records. A field that a record does not
// have, or anything else between the lines, is an error.
func decodeRecords(t testing.TB, text string) []record.Record {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("the last record has no newline: %.200q", text)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var recs []record.Record
	for {
		var r record.Record
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no record: %v\n%s", err, text)
		}
		recs = append(recs, r)
	}
	if lines := strings.Count(text, "\n"); lines != len(recs) {
		t.Errorf("%d records in %d lines", len(recs), lines)
	}
	return recs
}

// checkMeasured holds a record of one trial of cell c to everything that is true
// of any good one.
func checkMeasured(t testing.TB, r record.Record, c cell.Cell) {
	t.Helper()
	if r.Status != record.OK || r.Reason != "" || r.Validity.Verdict != "valid" || len(r.Validity.Reasons) > 0 {
		t.Fatalf("status %q, reason %q, validity %+v, first errors %q", r.Status, r.Reason, r.Validity, r.Messages)
	}
	if r.Cell != c {
		t.Errorf("cell\n%+v, want\n%+v", r.Cell, c)
	}
	for k, n := range r.Errors {
		if n != 0 && r.Cell.Protocol != "udp" { // a few datagrams may be lost
			t.Errorf("errors: %d %s", n, k)
		}
	}
	checkMetrics(t, r)
	checkProcesses(t, r)
	checkProvenance(t, r)
}

func checkMetrics(t testing.TB, r record.Record) {
	t.Helper()
	m := r.Metrics
	if m == nil || m.RTT == nil || len(m.Slices) == 0 {
		t.Fatalf("metrics are missing: %+v", m)
	}
	var trips, nanos int64
	for i, s := range m.Slices {
		trips += s.RoundTrips
		nanos += s.End - s.Start
		if s.Start < 0 || s.End <= s.Start || i > 0 && s.Start < m.Slices[i-1].End {
			t.Errorf("slice %d: %+v overlaps or is empty", i, s)
		}
	}
	if m.RoundTrips != trips || trips <= 0 {
		t.Errorf("%d round trips, %d in the slices", m.RoundTrips, trips)
	}
	near(t, "elapsed_seconds", m.ElapsedSeconds, float64(nanos)/1e9)
	near(t, "roundtrips_per_second", m.RoundTripsPerSecond, float64(trips)/m.ElapsedSeconds)
	near(t, "payload_mib_per_second", m.PayloadMiBPerSecond, 2*float64(r.Cell.Payload)*float64(trips)/m.ElapsedSeconds/1048576)

	h, err := hist.Decode(m.RTTHistogram)
	if err != nil {
		t.Fatal(err)
	}
	if h.Count() != m.RTT.Count {
		t.Errorf("the histogram holds %d, rtt_us.count is %d", h.Count(), m.RTT.Count)
	}
	if r.Cell.Pattern == cell.Stream && m.RTT.Count != trips || m.RTT.Count > trips {
		t.Errorf("%d RTTs of %d round trips", m.RTT.Count, trips)
	}
	last := 0.0
	for _, p := range []*float64{m.RTT.P50, m.RTT.P95, m.RTT.P99, m.RTT.P999, &m.RTT.Max} {
		if p == nil {
			continue
		}
		// The histogram keeps three digits, the maximum all.
		if *p < last*0.999 || math.IsNaN(*p) {
			t.Errorf("percentiles fall: %v after %v", *p, last)
		}
		last = *p
	}
	if m.RTT.Mean <= 0 || m.RTT.Mean > m.RTT.Max*1.001 {
		t.Errorf("mean %v, max %v", m.RTT.Mean, m.RTT.Max)
	}
}

// near allows for the rounding of floating-point sums.
func near(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func checkProcesses(t testing.TB, r record.Record) {
	t.Helper()
	split := r.Cell.Placement == cell.Split
	if (r.Server != nil) != split || (r.Load != nil) != split || (r.Process != nil) == split {
		t.Fatalf("%s: server %v, load %v, process %v", r.Cell.Placement, r.Server != nil, r.Load != nil, r.Process != nil)
	}
	for name, p := range map[string]*record.Process{"server": r.Server, "load": r.Load, "process": r.Process} {
		if p == nil {
			continue
		}
		if p.PID <= 0 || p.Threads <= 0 || name != "load" && p.Threads != r.Cell.Threads {
			t.Errorf("%s: pid %d, %d threads", name, p.PID, p.Threads)
		}
		if r.Provenance.CPUSource == "none" {
			continue
		}
		if p.CPUSeconds == nil || *p.CPUSeconds < 0 || p.PeakRSSBytes == nil || *p.PeakRSSBytes <= 0 {
			t.Errorf("%s: CPU time or memory is missing: %+v", name, p)
		}
	}
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

func checkProvenance(t testing.TB, r record.Record) {
	t.Helper()
	p := r.Provenance
	for name, h := range map[string]string{
		"driver_sha256": p.DriverSHA256, "plugin_sha256": p.PluginSHA256, "load_sha256": p.LoadSHA256, "source_sha256": p.SourceSHA256,
	} {
		if !sha256Hex.MatchString(h) {
			t.Errorf("%s: %q is no SHA-256", name, h)
		}
	}
	if p.SourceSHA256 != testSource {
		t.Errorf("source_sha256 %q is not what the plugin was built with", p.SourceSHA256)
	}
	if !strings.HasPrefix(p.GoVersion, "go") || len(p.Modules) == 0 || len(p.Build) == 0 || p.CPUSource == "" || p.GOMAXPROCS != r.Cell.Threads {
		t.Errorf("provenance is incomplete: %+v", p)
	}
	if r.Schema != record.Schema || r.RunID == "" || r.Group == "" || r.Order < 1 || r.Round < 1 || r.Attempt < 1 || r.Stack["event_loop"] == "" {
		t.Errorf("the record's head is incomplete: %+v", r)
	}
	checkUTC(t, r.StartedAt)
	checkRepeats(t, r)
}

// checkUTC wants RFC 3339 in UTC, in the last ten minutes.
func checkUTC(t testing.TB, text string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !strings.HasSuffix(text, "Z") || time.Since(at).Abs() > 10*time.Minute {
		t.Errorf("%q is no recent time in RFC 3339, UTC: %v", text, err)
	}
}

// checkRepeats wants a command in the record that measures the same cell.
func checkRepeats(t testing.TB, r record.Record) {
	t.Helper()
	words := strings.Fields(r.Provenance.Command)
	if len(words) == 0 || words[0] != "netmatrix" {
		t.Fatalf("command %q", r.Provenance.Command)
	}
	c, flags, err := newRoot().Find(words[1:])
	if err == nil {
		err = c.ParseFlags(flags)
	}
	if err != nil || c.Name() != "bench" {
		t.Fatalf("the record's command does not parse: %v\n%s", err, r.Provenance.Command)
	}
	for axis, flag := range benchAxes {
		got := c.Flags().Lookup(flag)
		if got == nil || !got.Changed && r.Cell.Axis(axis) != "0" {
			t.Errorf("the command does not say %s: %s", axis, r.Provenance.Command)
			continue
		}
		if text := strings.Trim(got.Value.String(), "[]"); text != r.Cell.Axis(axis) {
			t.Errorf("the command says %s %s, the cell has %s", axis, text, r.Cell.Axis(axis))
		}
	}
}

// benchAxes are the flags of bench by the axis they set.
var benchAxes = func() map[string]string {
	m := make(map[string]string)
	for _, axis := range []string{
		"runtime", "execution", "io_model", "threads", "protocol", "payload", "clients",
		"window", "work", "pattern", "placement", "rate", "load_wait", "address_family",
	} {
		m[axis] = strings.ReplaceAll(axis, "_", "-")
	}
	return m
}()

// statuses counts records by their status.
func statuses(recs []record.Record) map[string]int {
	n := make(map[string]int)
	for _, r := range recs {
		n[r.Status]++
	}
	return n
}
