package matrix

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
)

// A number has one spelling: decimal digits, without sign, leading zero,
// underscore, exponent or prefix. Each of those means different numbers to
// different readers of YAML, so they are refused, with the spelling to use.

// whole reads a whole number of at least 0.
func whole[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && int64(T(n)) != n:
		return 0, fmt.Errorf("%s is too large a number", quote(text))
	case err == nil && n < 0:
		return 0, fmt.Errorf("%s is below 0; write a number from 0 up", text)
	case err == nil && strconv.FormatInt(n, 10) == text:
		return T(n), nil
	}
	return 0, errors.New(plainer(text))
}

// plainer says how a number that is not spelt plainly should be written.
func plainer(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] == '0' {
		return fmt.Sprintf("%s is octal to some readers of YAML and decimal to others; write %d", text, n)
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return fmt.Sprintf("%s is not in plain decimal digits; write %d", text, n)
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		return fmt.Sprintf("%s is no number; write a whole one, such as 16", quote(text))
	case f != math.Trunc(f):
		return fmt.Sprintf("%s is no whole number; write %.0f or %.0f", quote(text), math.Floor(f), math.Ceil(f))
	}
	return fmt.Sprintf("%s is not in plain decimal digits; write %.0f", quote(text), f)
}

var plainDecimal = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})(\.[0-9]{1,9})?$`)

// decimal reads a number of at least 0 that may have a fraction.
func decimal(text string) (float64, error) {
	if !plainDecimal.MatchString(text) {
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < math.MaxInt32 {
			return 0, fmt.Errorf("%s is not in plain decimal digits; write %s", quote(text), strconv.FormatFloat(n, 'f', -1, 64))
		}
		return 0, fmt.Errorf("%s is no number from 0 up; write one such as 1000 or 2.5", quote(text))
	}
	return strconv.ParseFloat(text, 64)
}

// units are the suffixes of a byte count, as cell.Bytes spells them. B comes
// last since the others end in it.
var units = []struct {
	suffix string
	size   int
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"B", 1}}

var otherUnit = regexp.MustCompile(`^[0-9.]+ *(?i:[kmg]i?b?|b|bytes?)$`)

// ParseBytes reads a number of bytes the way a matrix file spells it: 1024, 64B,
// 16KiB, 1MiB.
func ParseBytes(text string) (int, error) {
	for _, u := range units {
		digits, found := strings.CutSuffix(text, u.suffix)
		n, err := whole[int](digits)
		if !found || err != nil {
			continue
		}
		if n > math.MaxInt/u.size {
			return 0, fmt.Errorf("%s is too large a number", quote(text))
		}
		return n * u.size, nil
	}
	if otherUnit.MatchString(text) {
		return 0, fmt.Errorf("%s is no byte count; write whole bytes (16384) or whole KiB or MiB without a space (16KiB, 1MiB)", quote(text))
	}
	return whole[int](text)
}

// ParsePercent reads a share the way a matrix file spells it, 3% or 0.5%, as a
// part of 1.
func ParsePercent(text string) (float64, error) {
	digits, found := strings.CutSuffix(text, "%")
	if !found {
		return 0, fmt.Errorf("%s has no unit; write per cent, such as 3%%", quote(text))
	}
	v, err := decimal(digits)
	return v / 100, err
}

// duration reads a time with its unit, such as 250ms, 1s or 1m30s.
func duration(text string) (time.Duration, error) {
	if text != "" && strings.Trim(text, "+-.0123456789_") == "" {
		return 0, fmt.Errorf("%s is a bare number; write its unit: %sms or %ss", quote(text), text, text)
	}
	d, err := time.ParseDuration(text)
	if err != nil || text[0] < '0' || text[0] > '9' {
		return 0, fmt.Errorf("%s is no duration; write it like 250ms, 1s or 1m30s", quote(text))
	}
	if trimmed := strings.TrimLeft(text, "0"); len(text) > 1 && text[0] == '0' && trimmed[0] >= '0' && trimmed[0] <= '9' {
		return 0, fmt.Errorf("%s begins with a zero; write %s", quote(text), trimmed)
	}
	return d, nil
}

// word reads a name as it stands.
func word(text string) (string, error) { return text, nil }

// choice reads one of the legal values of the axis.
func choice(axis string) func(string) (string, error) {
	return func(text string) (string, error) { return oneOf(text, cell.Values(axis)) }
}

func oneOf(text string, values []string) (string, error) {
	for _, v := range values {
		if v == text {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s is none of %s; %s", quote(text), strings.Join(values, ", "), suggest(text, values))
}
