package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

func TestCSVHasEveryRecord(t *testing.T) {
	all := twoRuns()
	all[1].Records[0].Reason = "two\nlines, \"quoted\""
	var out bytes.Buffer
	if err := report.CSV(&out, all); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	recs := slices.Concat(all[0].Records, all[1].Records)
	if len(lines) != len(recs)+1 {
		t.Fatalf("%d lines, want a head and %d", len(lines), len(recs))
	}
	column := func(name string) int {
		i := slices.Index(lines[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %v", name, lines[0])
		}
		return i
	}
	for i, r := range recs {
		line := lines[i+1]
		rate := ""
		if r.Metrics != nil {
			rate = strconv.FormatFloat(r.Metrics.RoundTripsPerSecond, 'g', -1, 64)
		}
		for name, want := range map[string]string{"run_id": r.RunID, "status": r.Status, "reason": r.Reason, "round": fmt.Sprint(r.Round),
			"io_model": r.Cell.IOModel, "payload": fmt.Sprint(r.Cell.Payload), "roundtrips_per_second": rate} {
			if got := line[column(name)]; got != want {
				t.Errorf("record %d: %s is %q, want %q", i, name, got, want)
			}
		}
	}
}

func TestJSONHasEveryRow(t *testing.T) {
	all := twoRuns()
	var out bytes.Buffer
	if err := report.JSON(&out, all); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Runs []string
		Rows []struct {
			Suite   string
			Cell    cell.Cell
			Planned int
			Status  map[string]int
			Figures map[string]struct {
				Median, Min, Max float64
				N                int
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	rows := compare.Rows(all)
	if len(got.Runs) != 2 || len(got.Rows) != len(rows) {
		t.Fatalf("%d runs and %d rows, want 2 and %d", len(got.Runs), len(got.Rows), len(rows))
	}
	for i, want := range rows {
		row := got.Rows[i]
		if row.Cell != want.Cell || row.Planned != 3 || row.Status[record.OK] != want.Count(record.OK) {
			t.Errorf("row %d is %+v, want %s", i, row, want.Cell)
		}
		rate, s := row.Figures["roundtrips_per_second"], want.Series(compare.Throughput).Spread()
		if rate.Median != s.Median || rate.Min != s.Min || rate.Max != s.Max || rate.N != s.N {
			t.Errorf("row %d: throughput %+v, want %+v", i, rate, s)
		}
	}
}

func TestDataWriteErrorsComeBack(t *testing.T) {
	for name, write := range map[string]func() error{
		"csv":  func() error { return report.CSV(brokenPipe{}, twoRuns()) },
		"json": func() error { return report.JSON(brokenPipe{}, twoRuns()) },
	} {
		if err := write(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want the writer's error", name, err)
		}
	}
}
