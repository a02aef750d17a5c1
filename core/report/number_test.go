package report

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/compare"
)

func TestThreeDigitsWhateverTheSize(t *testing.T) {
	for _, tt := range []struct {
		scale scale
		v     float64
		want  string
	}{
		{times, 3, "3.00 µs"},
		{times, 2_100_000, "2.10 s"},
		{times, 1.46, "1.46 µs"},
		{times, 0.035, "35.0 ns"},
		{times, 0.0004, "0.400 ns"},
		{times, 999.4, "999 µs"},
		{times, 999.6, "1.00 ms"},
		{times, 9.996, "10.0 µs"},
		{times, 60_000_000, "60.0 s"},
		{times, 0, "0 ns"},
		{counts, 425_300, "425k"},
		{counts, 1_430_000, "1.43M"},
		{counts, 999_600, "1.00M"},
		{counts, 92.5, "92.5"},
		{plain, 12345, "12300"},
		{plain, 0.01234, "0.0123"},
		{plain, -1.5, "-1.50"},
	} {
		if got := tt.scale.format(tt.v); got != tt.want {
			t.Errorf("%g shows as %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestFigure(t *testing.T) {
	for _, tt := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{367535, 0, "367,535"},
		{1430123.4, 0, "1,430,123"},
		{999, 0, "999"},
		{92.5, 0, "92.5"},
		{1491.789, 2, "1,491.79"},
		{16.67, 2, "16.67"},
		{0.035, 2, "0.0350"},
		{0.0001234, 2, "0.000123"},
		{9.9999, 0, "10.0"},
		{99.96, 1, "100.0"},
		{0, 2, "0"},
		{-123456, 0, "-123,456"},
	} {
		if got := figure(tt.v, tt.decimals); got != tt.want {
			t.Errorf("%g with %d decimals shows as %q, want %q", tt.v, tt.decimals, got, tt.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"nothing", nil, "–"},
		{"one trial has no range", []float64{35.21}, "35.2 µs"},
		{"one unit is said once", []float64{36, 33.1, 35.2}, "35.2 µs\n[33.1, 36.0]"},
		{"two units are said", []float64{3, 4, 2.1e6}, "4.00 µs\n[3.00 µs,\n2.10 s]"},
		{"range in another unit than the median", []float64{900, 1100}, "1.00 ms\n[900 µs,\n1.10 ms]"},
	} {
		if got := times.spread(compare.SpreadOf(tt.values)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got, want := wrap("one two three four", 9), "one two\n  three\n  four"; got != want {
		t.Errorf("wrap = %q, want %q", got, want)
	}
	if got, want := wrap("", 9), ""; got != want {
		t.Errorf("wrap of nothing = %q, want %q", got, want)
	}
}
