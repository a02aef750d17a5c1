package report_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/compare"
)

// raw is a record as anyone would read it who knows the file and not us.
type raw map[string]any

// at follows names into nested objects; NaN where there is nothing.
func (r raw) at(names ...string) float64 {
	var v any = map[string]any(r)
	for _, n := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return math.NaN()
		}
		v = m[n]
	}
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}

func readRaw(t *testing.T, dir string) []raw {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var recs []raw
	for in := bufio.NewScanner(f); in.Scan(); {
		var r raw
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// middle is the median of three rounds, which needs no arithmetic.
func middle(values []float64) float64 {
	slices.Sort(values)
	return values[1]
}

// tableRow finds the fields of a row by its first field, below a heading.
func tableRow(t *testing.T, page, heading, first string) []string {
	t.Helper()
	_, below, found := strings.Cut(page, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "| "+first+" |") {
			return strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		}
	}
	t.Fatalf("no row %q below %q", first, heading)
	return nil
}

// numbers are those of a field such as "1,234.50 [1,200.00, 1,300.00]".
func numbers(t *testing.T, field string) []float64 {
	t.Helper()
	var list []float64
	for _, word := range strings.Fields(strings.Trim(field, "~? ")) {
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(word, "[],"), ",", ""), 64)
		if err != nil {
			t.Fatalf("%q: %v", field, err)
		}
		list = append(list, v)
	}
	return list
}

// closeTo compares what a table shows with the exact value.
func closeTo(t *testing.T, what, field string, want ...float64) {
	t.Helper()
	got := numbers(t, field)
	if len(got) != len(want) {
		t.Errorf("%s: %q, want %d numbers", what, field, len(want))
		return
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > max(0.0051, 0.0051*math.Abs(want[i])) {
			t.Errorf("%s: %q, want %g as number %d", what, field, want[i], i+1)
		}
	}
}

// Every figure of a table follows from the file of records alone.
func TestTablesFollowFromTheRecords(t *testing.T) {
	res := twoRuns()[0]
	recs := readRaw(t, keep(t, res))
	of := func(runtime, model string, threads, clients float64, names ...string) []float64 {
		var values []float64
		for _, r := range recs { // in the order of rounds
			c := r["cell"].(map[string]any)
			if c["runtime"] == runtime && c["io_model"] == model && c["threads"] == threads && c["clients"] == clients && r["status"] == "ok" {
				values = append(values, r.at(names...))
			}
		}
		return values
	}
	site := pages([]compare.Results{res})
	for _, clients := range []float64{1, 16} {
		heading := map[float64]string{1: "tcp, 1KiB payload, 1 client × window 1, stream, colocated", 16: "tcp, 1KiB payload, 16 clients × window 16, stream, colocated"}[clients]
		for _, m := range []struct {
			model   string
			threads float64
		}{{"shared", 1}, {"shared", 4}, {"sharded", 2}} {
			label := fmt.Sprintf("rawpoll/callback, %s × %.0f", m.model, m.threads)
			fields := tableRow(t, site["tcp.md"], heading, label)
			take := func(names ...string) []float64 { return of("rawpoll", m.model, m.threads, clients, names...) }
			for i, names := range [][]string{nil, {"metrics", "roundtrips_per_second"}, {"metrics", "payload_mib_per_second"},
				{"metrics", "rtt_us", "p50"}, {"metrics", "rtt_us", "p95"}, {"metrics", "rtt_us", "p99"}, {"metrics", "rtt_us", "p999"},
				{"process", "cpu_percent"}, {"process", "cpu_us_per_roundtrip"}, {"process", "peak_rss_bytes"}, {"process", "messages_per_read"}} {
				if names == nil {
					continue
				}
				values := take(names...)
				if names[1] == "peak_rss_bytes" {
					for k := range values {
						values[k] /= 1048576
					}
				}
				want := []float64{middle(values)}
				if i == 1 || i == 4 || i == 5 {
					want = append(want, slices.Min(values), slices.Max(values))
				}
				closeTo(t, label+" "+names[len(names)-1], fields[i], want...)
			}
			if m.threads == 1 {
				continue
			}
			var ratios []float64
			base := of("rawpoll", "shared", 1, clients, "metrics", "roundtrips_per_second")
			for round, v := range take("metrics", "roundtrips_per_second") {
				ratios = append(ratios, v/base[round])
			}
			fields = tableRow(t, site["io-models.md"], heading, label)
			closeTo(t, label+" against shared × 1", fields[1], middle(ratios), slices.Min(ratios), slices.Max(ratios))
		}
	}
}
