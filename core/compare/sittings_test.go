package compare_test

import (
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// sitting is a run of rates, one a round, of some contenders over tcp.
func sitting(rates map[cell.Contender][]float64) compare.Results {
	cores := 2
	run := &record.Run{RunID: "r", Suite: "s", MeasureNanos: 1e9, Plugins: []record.Plugin{
		{Name: "a", SHA256: "1", Version: "lib@v1", GoVersion: "go1.26", Modules: map[string]string{"lib": "v1"}},
	}}
	run.Environment.Kernel, run.Environment.LogicalCores = "6.1", &cores
	res := compare.Results{Run: run}
	for k, list := range rates {
		for i, rate := range list {
			r := rec(tcp, k, i+1, 1, record.OK, rate)
			r.Provenance.LoadSHA256 = "load"
			res.Records = append(res.Records, r)
		}
	}
	return res
}

func TestCircumstances(t *testing.T) {
	rates := map[cell.Contender][]float64{a: {1}}
	for _, tt := range []struct {
		what   string
		change func(*compare.Results)
	}{
		{"", func(*compare.Results) {}},
		{"", func(r *compare.Results) { r.Run.Plugins[0].SHA256, r.Run.Seed, r.Run.Rounds = "2", 7, 9 }},
		{"kernel", func(r *compare.Results) { r.Run.Environment.Kernel = "6.2" }},
		{"logical cores", func(r *compare.Results) { r.Run.Environment.LogicalCores = nil }},
		{"counted time", func(r *compare.Results) { r.Run.MeasureNanos = 2e9 }},
		{"build of the load", func(r *compare.Results) { r.Records[0].Provenance.LoadSHA256 = "another" }},
		{"kernel settings", func(r *compare.Results) { r.Run.Environment.Settings.ClockSource = "hpet" }},
		{"CPUs of server and load", func(r *compare.Results) { r.Run.CPUs.Server = []int{1} }},
	} {
		after := sitting(rates)
		tt.change(&after)
		var names []string
		for _, d := range compare.Circumstances(sitting(rates), after) {
			names = append(names, d.What)
		}
		if got := strings.Join(names, ", "); got != tt.what {
			t.Errorf("differs in %q, want %q", got, tt.what)
		}
	}
}

func TestBuilds(t *testing.T) {
	before, after := sitting(nil), sitting(nil)
	if got := compare.Builds(before, after); len(got) != 0 {
		t.Errorf("equal builds differ in %v", got)
	}
	p := &after.Run.Plugins[0]
	p.SHA256, p.Version, p.Modules = "2", "lib@v2", map[string]string{"lib": "v2", "new": "v1"}
	var got []string
	for _, d := range compare.Builds(before, after) {
		got = append(got, d.What+" "+d.Before+" "+d.After)
	}
	if want := "a: build 1 2, a: library lib@v1 lib@v2, a: lib v1 v2, a: new  v1"; strings.Join(got, ", ") != want {
		t.Errorf("builds differ in %q, want %q", strings.Join(got, ", "), want)
	}
}

// What only one run has is listed, and makes no ratio.
func TestSitTakesCommonCells(t *testing.T) {
	c := cell.Contender{Runtime: "c", Execution: cell.Callback}
	before := sitting(map[cell.Contender][]float64{a: {100, 110, 90}, b: {50}})
	after := sitting(map[cell.Contender][]float64{a: {200, 220, 180}, c: {50}})
	s := compare.Sit(before, after)
	if len(s.Common) != 1 || s.Common[0].After.Contender() != a || len(s.OnlyBefore) != 1 || s.OnlyBefore[0].Contender() != b || len(s.OnlyAfter) != 1 || s.OnlyAfter[0].Contender() != c {
		t.Fatalf("%+v, want a in both, b before, c after", s)
	}
	got, want := s.Common[0].Ratio(compare.Throughput), compare.Ratio{Spread: compare.Spread{Median: 2, Min: 180.0 / 110, Max: 220.0 / 90, N: 3}}
	if got != want {
		t.Errorf("ratio %+v, want %+v", got, want)
	}
	if got := s.Common[0].Ratio(compare.CPUPerTrip); got != (compare.Ratio{}) {
		t.Errorf("ratio %+v of what was not measured", got)
	}
	s.Common[0].After.Records[1].Validity.Flags = []string{record.FlagLoadBound}
	if got := s.Common[0].Ratio(compare.Throughput); got.N != 0 {
		t.Errorf("ratio %+v of a lower bound", got)
	}
}
