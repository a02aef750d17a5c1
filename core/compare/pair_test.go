package compare_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

func TestAgainst(t *testing.T) {
	of := func(runtime, execution, protocol, model string, threads int, work int64) cell.Cell {
		return cell.Cell{Runtime: runtime, Execution: execution, Protocol: protocol, IOModel: model, Threads: threads, Work: work}
	}
	x := of("rawpoll", cell.Callback, "wss", cell.Sharded, 4, 10000)
	for _, tt := range []struct {
		axis       string
		from, want cell.Cell
	}{
		{"contender", x, of("b", cell.Goroutine, "wss", cell.Sharded, 4, 10000)},
		{"io_model", x, of("rawpoll", cell.Callback, "wss", cell.Shared, 1, 10000)},
		{"execution", x, of("rawpoll", cell.Goroutine, "wss", cell.Sharded, 4, 10000)},
		{"execution", of("stdnet", cell.Callback, "tcp", cell.Shared, 1, 0), of("coroutine", cell.Goroutine, "tcp", cell.Shared, 1, 0)},
		{"protocol", x, of("rawpoll", cell.Callback, "tcp", cell.Sharded, 4, 10000)},
		{"work", x, of("rawpoll", cell.Callback, "wss", cell.Sharded, 4, 0)},
	} {
		against := compare.Against(tt.axis, b)
		if got := against(tt.from); got != tt.want {
			t.Errorf("%s: %+v is set against %+v, want %+v", tt.axis, tt.from, got, tt.want)
		}
		if got := against(tt.want); got != tt.want {
			t.Errorf("%s: the reference is set against %+v, want itself", tt.axis, got)
		}
	}
}

func TestPairsNeedTwoGoodRows(t *testing.T) {
	rows := compare.Rows(results(
		rec(tcp, a, 1, 1, record.OK, 1), rec(tcp, b, 1, 1, record.OK, 1),
		rec(udp, a, 1, 1, record.OK, 1), rec(udp, b, 1, 1, record.Failed, 0),
	))
	got := compare.Pairs(rows, compare.Against("contender", b))
	if len(got) != 1 || got[0].Row.Cell != tcp.With(a) || got[0].Base.Cell != tcp.With(b) {
		t.Errorf("pairs %+v, want a against b over tcp only", got)
	}
}

func TestRatio(t *testing.T) {
	pair := func(row, base []float64, flag string) compare.Pair {
		var recs []record.Record
		for i := range row {
			x := rec(tcp, a, i+1, 1, record.OK, row[i])
			x.Validity.Flags = []string{flag}
			recs = append(recs, x, rec(tcp, b, i+1, 1, record.OK, base[i]))
		}
		return compare.Pairs(compare.Rows(results(recs...)), compare.Against("contender", b))[0]
	}
	spread := func(median, lowest, highest float64, n int) compare.Spread {
		return compare.Spread{Median: median, Min: lowest, Max: highest, N: n}
	}
	for _, tt := range []struct {
		name      string
		row, base []float64
		flag      string
		want      compare.Ratio
	}{
		{"apart", []float64{20, 30, 40}, []float64{10, 10, 10}, "", compare.Ratio{Spread: spread(3, 2, 4, 3)}},
		{"steady ratio of rows that overlap", []float64{20, 40}, []float64{10, 20}, "", compare.Ratio{Spread: spread(2, 2, 2, 2), Overlap: true}},
		{"one round", []float64{20}, []float64{10}, "", compare.Ratio{Spread: spread(2, 2, 2, 1), Overlap: true}},
		{"a lower bound", []float64{20, 30}, []float64{10, 10}, record.FlagLoadBound, compare.Ratio{}},
		{"another flag", []float64{20, 30}, []float64{10, 10}, record.FlagDisturbed, compare.Ratio{Spread: spread(2.5, 2, 3, 2)}},
	} {
		if got := pair(tt.row, tt.base, tt.flag).Ratio(compare.Throughput); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestRank(t *testing.T) {
	flagged := func(r record.Record, flag string) record.Record {
		r.Validity.Flags = []string{flag}
		return r
	}
	k := func(name string) cell.Contender { return cell.Contender{Runtime: name, Execution: cell.Callback} }
	rows := compare.Rows(results(
		rec(tcp, k("slow"), 1, 1, record.OK, 10),
		rec(tcp, k("fast"), 1, 1, record.OK, 20),
		flagged(rec(tcp, k("bound"), 1, 1, record.OK, 90), record.FlagLoadBound),
		rec(tcp, k("flawed"), 1, 1, record.OK, 90), rec(tcp, k("flawed"), 2, 1, record.Invalid, 90),
		rec(tcp, k("broken"), 1, 1, record.Failed, 0),
		rec(tcp, k("cannot"), 1, 1, record.Unsupported, 0),
		flagged(rec(tcp, k("crowded"), 1, 1, record.OK, 15), record.FlagOversubscribed),
	))
	names := func(g compare.Group) (ranked string, excluded map[string]string) {
		excluded = map[string]string{}
		r := compare.Rank(g)
		for _, row := range r.Rows {
			ranked += row.Cell.Runtime + " "
		}
		for _, e := range r.Excluded {
			excluded[e.Row.Cell.Runtime] = e.Why
		}
		return ranked, excluded
	}
	ranked, excluded := names(compare.Workloads(rows)[0])
	if ranked != "fast slow " {
		t.Errorf("IO models ranked: %s, want fast slow", ranked)
	}
	for name, want := range map[string]string{"bound": "the load was the limit", "flawed": "1 of 2 trials invalid", "broken": "1 of 1 trials failed", "crowded": "more IO threads than CPUs"} {
		if excluded[name] != want {
			t.Errorf("%s is excluded for %q, want %q", name, excluded[name], want)
		}
	}
	later := rec(tcp, k("later"), 1, 1, record.OK, 99)
	later.RunID = "another"
	if ranked, excluded := names(compare.Workloads(compare.Rows(results(rec(tcp, k("early"), 1, 1, record.OK, 1), later)))[0]); ranked != "early " || excluded["later"] != "measured in another run" {
		t.Errorf("over two runs: ranked %s, excluded %v", ranked, excluded)
	}
	scenario := on(tcp, cell.Shared, 4)
	for i := range rows {
		rows[i].Cell.IOModel, rows[i].Cell.Threads = scenario.IOModel, scenario.Threads
	}
	if ranked, _ := names(compare.Scenarios(rows)[0]); ranked != "fast crowded slow " {
		t.Errorf("contenders ranked: %s, want fast crowded slow: all are crowded alike", ranked)
	}
}
