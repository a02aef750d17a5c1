package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// tenRounds is a run with rounds enough for words, a twin, and a trial that was
// disturbed and measured again.
func tenRounds() (*record.Run, []record.Record) {
	tcp := scenario("tcp")
	contenders := []cell.Contender{coroutine, netpoll, rawpoll, stdnet}
	run := &record.Run{RunID: "20261010-0622", Suite: "quick", Contrast: "contender", Rounds: 10, Baseline: coroutine, Delta: 0.02,
		Environment: sysinfo.Facts{CPU: "made up", Architecture: "amd64"}}
	base := []float64{300, 310, 295, 305, 299, 303, 308, 297, 301, 304}
	wobble := []float64{1.002, 0.995, 1.004, 0.999, 1.001, 0.997, 1.003, 0.998, 1.0, 1.005}
	var recs []record.Record
	for i, rate := range base {
		round := i + 1
		run.Schedule = append(run.Schedule, record.Trial{Order: round, Round: round, Group: measured(tcp, coroutine, round, 1, 1, 1, 1).Group,
			Scenario: tcp, Contenders: contenders, Twin: coroutine})
		add := func(k cell.Contender, ratio, cpu float64) record.Record {
			r := measured(tcp, k, round, 1000*rate*ratio, 600, 900, 3*cpu)
			r.Order = round
			recs = append(recs, r)
			return r
		}
		add(coroutine, 1, 1)
		add(netpoll, 1+float64(i%5-2)/20, 0.9*wobble[i])
		first := add(rawpoll, 1.4*wobble[i], 0.33*wobble[9-i])
		add(stdnet, wobble[i], wobble[9-i])
		twin := measured(tcp, coroutine, round, 1000*rate*wobble[9-i], 600, 900, 3*wobble[i])
		twin.Order, twin.Twin = round, true
		recs = append(recs, twin)
		if round == 4 {
			recs[len(recs)-3].Validity.Flags = []string{record.FlagDisturbed}
			first.Attempt = 2
			recs = append(recs, first)
		}
	}
	return run, recs
}

func TestVerdictsInText(t *testing.T) {
	run, recs := tenRounds()
	for width, name := range map[int]string{80: "verdicts_80.txt", 100: "verdicts_100.txt"} {
		got := text(t, run, recs, report.Options{Width: width})
		golden(t, name, got)
		for i, line := range strings.Split(got, "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d: line %d has %d columns: %q", width, i+1, n, line)
			}
		}
	}
	got := strings.Join(strings.Fields(text(t, run, recs, report.Options{})), " ")
	for _, want := range []string{
		"noise floor: throughput ±0.503 %, CPU per trip ±0.503 %, which 95 % of 10 rounds of equals stayed within",
		"more throughput", "less CPU", "equivalent within ±2 %", "inconclusive", "50, of them 50 ok", "10 of 10 planned trials done",
		"rawpoll/callback: measured again 1 time",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say %q:\n%s", want, got)
		}
	}
}

// Six rounds have ranges and no words.
func TestFewRoundsHaveNoWords(t *testing.T) {
	run, recs := tenRounds()
	got := text(t, run, recs[:6*5], report.Options{})
	for _, word := range []string{"more throughput", "less CPU", "equivalent", "inconclusive", "95 % interval"} {
		if strings.Contains(got, word) {
			t.Errorf("six rounds are given the word %q:\n%s", word, got)
		}
	}
}

func TestVerdictsInMarkdown(t *testing.T) {
	run, recs := tenRounds()
	pages := report.Markdown([]compare.Results{{Dir: "results/quick", Run: run, Records: recs}})
	index := string(pages[0].Data)
	for _, want := range []string{
		"suite `quick`, noise floor: throughput ±0.503 %",
		"1.40 × that of coroutine/goroutine [1.40, 1.40], more throughput; p99",
		"50 records",
	} {
		if !strings.Contains(index, want) {
			t.Errorf("the index does not say %q:\n%s", want, index)
		}
	}
	if i := strings.Index(index, "noise floor"); i < 0 || i > strings.Index(index, "## Test conditions") {
		t.Error("the noise floor does not stand at the top")
	}
}
