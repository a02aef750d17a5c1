package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// A quantity is a figure as pages show it: one unit for a whole column, so that
// rows can be compared at a glance.
type quantity struct {
	name     string // with its unit
	metric   compare.Metric
	factor   float64 // from the record's unit to the shown one
	decimals int     // at least
	ranged   bool    // shown with [min, max]
}

// quantities are the columns of figures, in the order of a table.
var quantities = []quantity{
	{"round trips/s", compare.Throughput, 1, 0, true},
	{"MiB/s", compare.Payload, 1, 2, false},
	{"p50 / µs", compare.P50, 1, 2, false},
	{"p95 / µs", compare.P95, 1, 2, true},
	{"p99 / µs", compare.P99, 1, 2, true},
	{"p99.9 / µs", compare.P999, 1, 2, false},
	{"CPU / %", compare.CPU, 1, 1, false},
	{"CPU µs per round trip", compare.CPUPerTrip, 1, 2, false},
	{"peak RSS / MiB", compare.PeakRSS, 1.0 / (1 << 20), 2, false},
	{"messages per read", compare.MessagesPerRead, 1, 2, false},
}

// of is the row's figure, a dash unless every good trial has it: the median of
// some trials would not be comparable with the median of all.
func (q quantity) of(r compare.Row) string {
	s := r.Series(q.metric).Spread()
	if s.N == 0 || s.N < r.Count(record.OK) {
		return dash
	}
	text := q.format(s.Median)
	if q.ranged && s.N > 1 {
		text += " [" + q.format(s.Min) + ", " + q.format(s.Max) + "]"
	}
	return text
}

func (q quantity) format(v float64) string { return figure(v*q.factor, q.decimals) }

// figure writes v with the decimals given, or more where it takes more to show
// three significant digits, and with a comma between thousands.
func figure(v float64, decimals int) string {
	if v == 0 {
		return "0"
	}
	decimals = max(decimals, 2-int(math.Floor(math.Log10(math.Abs(round3(v))))))
	whole, fraction, found := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	if found {
		fraction = "." + fraction
	}
	return thousands(whole) + fraction
}

// thousands puts commas into the digits of a whole number.
func thousands(digits string) string {
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
