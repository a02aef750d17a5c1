package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// notes explains each row that is not simply good, or is an open loop.
func (p *page) notes(s compare.Group) {
	var notes []string
	for _, r := range s.Rows {
		name := r.Contender().String() + ": "
		for _, n := range reasons(r) {
			notes = append(notes, name+n)
		}
		if kinds := errorCounts(r); len(kinds) > 0 {
			notes = append(notes, name+"errors: "+list(kinds))
		}
		for _, line := range append(flags(r), repeated(r)...) {
			notes = append(notes, name+line)
		}
		if n := openLoop(r); n != "" {
			notes = append(notes, name+n)
		}
	}
	if len(notes) == 0 {
		return
	}
	p.line("")
	for _, n := range notes {
		p.wrapped("- " + n)
	}
}

// reasons says why trials of a row are not ok, in which rounds: once for each
// reason.
func reasons(r compare.Row) []string {
	var order []string
	rounds := map[string][]string{}
	for _, rec := range r.Records {
		if rec.Status == record.OK {
			continue
		}
		why := rec.Status
		if rec.Reason != "" {
			why += ": " + rec.Reason
		}
		if rounds[why] == nil {
			order = append(order, why)
		}
		rounds[why] = append(rounds[why], strconv.Itoa(rec.Round))
	}
	for i, why := range order {
		if len(rounds[why]) < len(r.Records) {
			order[i] = "round " + strings.Join(rounds[why], ", ") + " " + why
		}
	}
	return order
}

// meaning explains the flags that limit what a row's figures say.
var meaning = map[string]string{
	record.FlagLoadBound:      "the load was the limit, so the throughput is a lower bound",
	record.FlagOversubscribed: "more IO threads than CPUs, so nothing follows about IO models",
	record.FlagDisturbed:      "others used the CPUs meanwhile",
	record.FlagStalled:        "a whole slice passed without an echo, which percentiles of a closed loop hide",
}

// flags explains the validity flags of a row's good trials.
func flags(r compare.Row) []string {
	trials := flagged(r)
	var lines []string
	for _, f := range slices.Sorted(maps.Keys(trials)) {
		line := fmt.Sprintf("%s in %d of %d trials", f, trials[f], r.Count(record.OK))
		if why := meaning[f]; why != "" {
			line += ": " + why
		}
		lines = append(lines, line)
	}
	return lines
}

// repeated says that attempts do not count.
func repeated(r compare.Row) []string {
	if r.Repeated == 0 {
		return nil
	}
	times := "times"
	if r.Repeated == 1 {
		times = "time"
	}
	return []string{fmt.Sprintf("measured again %d %s, since others used the CPUs meanwhile: the last attempt at a trial counts", r.Repeated, times)}
}

// flagged counts the good trials that carry each validity flag.
func flagged(r compare.Row) map[string]int {
	trials := map[string]int{}
	for _, rec := range r.Records {
		for _, f := range rec.Validity.Flags {
			if rec.Status == record.OK {
				trials[f]++
			}
		}
	}
	return trials
}

// errorCounts adds up what went wrong in all of a row's trials, by kind.
func errorCounts(r compare.Row) map[string]int64 {
	sum := map[string]int64{}
	for _, rec := range r.Records {
		for kind, n := range rec.Errors {
			if n > 0 {
				sum[kind] += n
			}
		}
	}
	return sum
}

func total(kinds map[string]int64) int64 {
	var n int64
	for _, k := range kinds {
		n += k
	}
	return n
}

func list(kinds map[string]int64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}
