package compare_test

import (
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// on is a scenario with another IO model.
func on(c cell.Cell, model string, threads int) cell.Cell {
	c.IOModel, c.Threads = model, threads
	return c
}

func TestWorkloadsKeepIOModelsTogether(t *testing.T) {
	got := compare.Workloads(compare.Rows(results(
		rec(on(udp, cell.Shared, 1), a, 1, 1, record.OK, 1),
		rec(on(tcp, cell.Sharded, 2), a, 1, 1, record.OK, 1),
		rec(on(tcp, cell.Shared, 2), b, 1, 1, record.OK, 1),
		rec(on(tcp, cell.Shared, 2), a, 1, 1, record.OK, 1),
		rec(on(tcp, cell.Shared, 1), a, 1, 1, record.OK, 1),
	)))
	if len(got) != 2 || got[0].Cell != tcp || got[1].Cell != udp {
		t.Fatalf("workloads %+v, want tcp, then udp, without an IO model", got)
	}
	var order []string
	for _, r := range got[0].Rows {
		order = append(order, r.Cell.String())
	}
	want := []string{"a/callback tcp 64B 1×1 shared×1", "a/callback tcp 64B 1×1 shared×2", "a/callback tcp 64B 1×1 sharded×2", "b/goroutine tcp 64B 1×1 shared×2"}
	if strings.Join(order, "; ") != strings.Join(want, "; ") {
		t.Errorf("rows %q, want %q", order, want)
	}
}

func TestSuitesAreNotMixed(t *testing.T) {
	one := compare.Results{Run: &record.Run{RunID: "1", Suite: "one"}, Records: []record.Record{rec(tcp, a, 1, 1, record.OK, 1)}}
	two := compare.Results{Run: &record.Run{RunID: "2", Suite: "two"}, Records: []record.Record{rec(tcp, a, 1, 1, record.OK, 1)}}
	got := compare.Scenarios(compare.Rows([]compare.Results{two, one}))
	if len(got) != 2 || got[0].Run.Suite != "two" || got[1].Run.Suite != "one" {
		t.Errorf("scenarios %+v, want one of each suite, in the order given", got)
	}
}

func TestRunsOfOneSuiteJoin(t *testing.T) {
	part := func(id string, c cell.Cell, k cell.Contender) compare.Results {
		run := &record.Run{RunID: id, Suite: "s", Schedule: []record.Trial{{Scenario: c, Contenders: []cell.Contender{k}}}}
		r := rec(c, k, 1, 1, record.OK, 1)
		r.RunID = id
		return compare.Results{Run: run, Records: []record.Record{r}}
	}
	rows := compare.Rows([]compare.Results{part("1", tcp, a), part("2", tcp, b)})
	if got := compare.Scenarios(rows); len(got) != 1 || len(got[0].Rows) != 2 {
		t.Fatalf("scenarios %+v, want one with both contenders", got)
	}
	if n := rows[0].Series(compare.Throughput).Ratios(rows[1].Series(compare.Throughput)).Spread().N; n != 0 {
		t.Errorf("%d ratios across runs, want none: their rounds were at different times", n)
	}
}

func TestDisjoint(t *testing.T) {
	one := compare.Results{Dir: "results/one", Run: &record.Run{Suite: "s"}, Records: []record.Record{
		rec(tcp, a, 1, 1, record.Invalid, 1), rec(tcp, a, 1, 2, record.OK, 1), // attempts at one trial are no conflict
	}}
	for _, tt := range []struct {
		name  string
		other compare.Results
		want  string
	}{
		{"another contender", compare.Results{Dir: "x", Run: &record.Run{Suite: "s"}, Records: []record.Record{rec(tcp, b, 1, 1, record.OK, 1)}}, ""},
		{"another round", compare.Results{Dir: "x", Run: &record.Run{Suite: "s"}, Records: []record.Record{rec(tcp, a, 2, 1, record.OK, 1)}}, ""},
		{"another suite", compare.Results{Dir: "x", Run: &record.Run{Suite: "t"}, Records: []record.Record{rec(tcp, a, 1, 1, record.OK, 1)}}, ""},
		{"the same trial", compare.Results{Dir: "results/two", Run: &record.Run{Suite: "s"}, Records: []record.Record{rec(tcp, a, 1, 1, record.OK, 1)}}, "results/one and results/two both hold round 1 of a/callback tcp"},
		{"the same folder", one, "results/one and results/one"},
	} {
		err := compare.Disjoint([]compare.Results{one, tt.other})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
