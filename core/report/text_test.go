package report_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	if err := os.WriteFile(path+".got", []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Fatalf("%s, line %d:\n got %q\nwant %q\nall of it is in %s.got", path, i+1, gotLines[i], wantLines[i], path)
		}
	}
	t.Fatalf("%s has %d lines, want %d; see %s.got", path, len(gotLines), len(wantLines), path)
}

// The contenders of the made-up run.
var (
	coroutine = cell.Contender{Runtime: "coroutine", Execution: cell.Goroutine}
	rawpoll   = cell.Contender{Runtime: "rawpoll", Execution: cell.Callback}
	stdnet    = cell.Contender{Runtime: "stdnet", Execution: cell.Callback}
	netpoll   = cell.Contender{Runtime: "netpoll", Execution: cell.Callback}
)

func scenario(protocol string) cell.Cell {
	return cell.Cell{IOModel: cell.Shared, Threads: 1, Protocol: protocol, Payload: 1024, Clients: 16, Window: 16,
		Pattern: cell.Stream, Placement: cell.Split, LoadWait: cell.Busy, AddressFamily: cell.IPv4}
}

// measured is a good record: rate in round trips/s, percentiles in µs.
func measured(c cell.Cell, k cell.Contender, round int, rate, p50, p99, cpuPerTrip float64) record.Record {
	percent, rss := rate*cpuPerTrip/1e4, int64(12<<20+round*100_000)
	return record.Record{Schema: record.Schema, RunID: "20261010-0622", Group: fmt.Sprint(c.Protocol, round), Round: round, Attempt: 1,
		Status: record.OK, Cell: c.With(k),
		Metrics: &record.Metrics{ElapsedSeconds: 1, RoundTripsPerSecond: rate, PayloadMiBPerSecond: 2 * rate * float64(c.Payload) / (1 << 20),
			RTT: &record.RTT{P50: &p50, P99: &p99}},
		Server:   &record.Process{CPUPercent: &percent, CPUMicrosPerTrip: &cpuPerTrip, PeakRSSBytes: &rss},
		Validity: record.Validity{Verdict: "valid"}}
}

// not is a record without figures.
func not(c cell.Cell, k cell.Contender, round int, status, reason string) record.Record {
	return record.Record{Schema: record.Schema, RunID: "20261010-0622", Group: fmt.Sprint(c.Protocol, round), Round: round, Attempt: 1,
		Status: status, Reason: reason, Cell: c.With(k)}
}

// madeUp is a run of three rounds over two scenarios, the last trial missing.
func madeUp() (*record.Run, []record.Record) {
	cores, memory, quota := 14, int64(48<<30), 7.5
	run := &record.Run{RunID: "20261010-0622", Suite: "quick", Rounds: 3, Baseline: coroutine,
		Environment: sysinfo.Facts{Model: "Mac16,11", CPU: "Apple M4 Pro", Architecture: "arm64", PhysicalCores: &cores, LogicalCores: &cores,
			MemoryBytes: &memory, OS: "macOS 27.0.1 (26A434)", Kernel: "27.0.0", Power: "ac", CPUQuota: &quota}}
	tcp, udp := scenario("tcp"), scenario("udp")
	udp.Window = 1
	for round := 1; round <= 3; round++ {
		for _, c := range []cell.Cell{udp, tcp} {
			run.Schedule = append(run.Schedule, record.Trial{Order: len(run.Schedule) + 1, Round: round, Group: fmt.Sprint(c.Protocol, round),
				Scenario: c, Contenders: []cell.Contender{rawpoll, coroutine, netpoll, stdnet}})
		}
	}
	recs := []record.Record{
		measured(tcp, coroutine, 1, 301_000, 812.25, 1490, 3.21),
		measured(tcp, coroutine, 2, 295_400, 830, 1510, 3.3),
		measured(tcp, coroutine, 3, 310_900, 799, 1430, 3.11),
		measured(tcp, rawpoll, 1, 425_300, 590.4, 893, 1.02),
		measured(tcp, rawpoll, 2, 419_000, 600, 901, 0.97),
		measured(tcp, rawpoll, 3, 433_000, 585, 880, 1.01),
		measured(tcp, stdnet, 1, 304_000, 801, 1500, 3.15),
		measured(tcp, stdnet, 2, 297_000, 3.04, 2_100_000, 3.35),
		not(tcp, stdnet, 3, record.Invalid, "3 messages unfinished after the drain"),
		not(tcp, netpoll, 1, record.Failed, "plugin gone while it measured: exit status 2"),
		not(tcp, netpoll, 2, record.Failed, "plugin gone while it measured: exit status 2"),
		not(tcp, netpoll, 3, record.Failed, "plugin gone while it measured: exit status 2"),
		measured(udp, coroutine, 1, 90_000, 170, 208, 9.9),
		measured(udp, coroutine, 2, 91_200, 168, 206, 9.8),
		measured(udp, rawpoll, 1, 92_500, 167, 207.79, 3.3),
		measured(udp, rawpoll, 2, 92_515, 167, 209, 3.2),
		measured(udp, stdnet, 1, 89_000, 171, 212, 10.2),
		not(udp, netpoll, 1, record.Unsupported, "the library has no udp"),
		not(udp, netpoll, 2, record.Unsupported, "the library has no udp"),
	}
	order := map[string]int{}
	for _, t := range run.Schedule {
		order[t.Group] = t.Order
	}
	for i := range recs {
		r := &recs[i]
		r.Order = order[r.Group]
		switch {
		case r.Cell.Contender() == stdnet && r.Status == record.Invalid:
			r.Errors = map[string]int64{"unfinished": 3, "content": 0}
		case r.Cell.Contender() == rawpoll && r.Cell.Protocol == "udp":
			r.Validity.Flags = []string{record.FlagLoadBound}
		}
	}
	return run, recs
}

func text(t *testing.T, run *record.Run, recs []record.Record, opt report.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Text(&out, run, recs, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	run, recs := madeUp()
	golden(t, "run_100.txt", text(t, run, recs, report.Options{}))
	golden(t, "run_80.txt", text(t, run, recs, report.Options{Width: 80}))
}

func TestTextKeepsToTheWidth(t *testing.T) {
	run, recs := madeUp()
	for _, width := range []int{80, 100} {
		for i, line := range strings.Split(text(t, run, recs, report.Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d: line %d has %d columns: %q", width, i+1, n, line)
			}
		}
	}
}

func TestColourChangesNothingElse(t *testing.T) {
	run, recs := madeUp()
	plain, coloured := text(t, run, recs, report.Options{}), text(t, run, recs, report.Options{Color: true})
	if plain == coloured || strings.Contains(plain, "\x1b") {
		t.Error("colour makes no difference, or shows without being asked for")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, ""); got != plain {
		t.Error("without its escape sequences the coloured report differs from the plain one")
	}
}

func TestNothingRecorded(t *testing.T) {
	got := text(t, &record.Run{}, nil, report.Options{})
	if !strings.Contains(got, "0 of 0 planned trials") {
		t.Errorf("report of nothing: %q", got)
	}
}

func TestNothingMeasuredInAGoodTrial(t *testing.T) {
	r := measured(scenario("tcp"), rawpoll, 1, 0, 0, 0, 0)
	r.Metrics.RTT, r.Server = nil, nil
	got := text(t, &record.Run{}, []record.Record{r}, report.Options{})
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(got, bad) {
			t.Errorf("the report contains %s:\n%s", bad, got)
		}
	}
}

func TestColocatedHasOneProcess(t *testing.T) {
	c := scenario("tcp")
	c.Placement = cell.Colocated
	r := measured(c, rawpoll, 1, 1000, 5, 6, 2)
	r.Process, r.Server = r.Server, nil
	got := text(t, &record.Run{}, []record.Record{r}, report.Options{})
	if !strings.Contains(got, " process ") || !strings.Contains(got, "2.00 µs") {
		t.Errorf("colocated: no 2.00 µs per trip of the one process in\n%s", got)
	}
}

func TestOpenLoopSaysSo(t *testing.T) {
	c := scenario("tcp")
	c.Rate, c.Clients = 10_000, 1
	got := text(t, &record.Run{}, []record.Record{measured(c, rawpoll, 1, 1000, 5, 6, 2)}, report.Options{})
	if !strings.Contains(got, "open loop: 10.0k round trips/s offered") || !strings.Contains(got, "1 client ×") {
		t.Errorf("neither an open loop nor one client is named in\n%s", got)
	}
}

func TestOneRoundConfirmsNothing(t *testing.T) {
	run, recs := madeUp()
	run.Schedule = run.Schedule[:2]
	got := text(t, run, []record.Record{recs[0], recs[3]}, report.Options{})
	if !strings.Contains(got, "? 1.41") || !strings.Contains(got, "one round has no range") {
		t.Errorf("a single round is taken for a difference:\n%s", got)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorComesBack(t *testing.T) {
	if err := report.Text(brokenPipe{}, &record.Run{}, nil, report.Options{}); !errors.Is(err, errBroken) {
		t.Errorf("Text = %v, want the writer's error", err)
	}
}
