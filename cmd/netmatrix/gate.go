package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/record"
)

// gate is the limits that a new build is held to.
type gate []compare.Limit

// gates reads --gate, and checks what it needs.
func (f *abFlags) gates() (gate, error) {
	if f.rounds < 1 || f.rounds > matrix.MaxRounds/2 {
		return nil, usagef("--rounds: %d lies outside 1 to %d", f.rounds, matrix.MaxRounds/2)
	}
	if _, err := matrix.ParsePercent(f.delta); err != nil {
		return nil, usagef("--delta: %v", err)
	}
	if f.gate == "" {
		return nil, nil
	}
	if f.rounds < compare.MinRounds {
		return nil, usagef("--gate: nothing is certain in %d rounds: take --rounds %d or more", f.rounds, compare.MinRounds)
	}
	var g gate
	for _, text := range strings.Split(f.gate, ",") {
		name, share, _ := strings.Cut(text, "=")
		limit, err := matrix.ParsePercent(share)
		if err != nil {
			return nil, usagef("--gate %s: %v", text, err)
		}
		i := slices.IndexFunc(compare.Gated(), func(m compare.Metric) bool { return m.Name == name })
		if i < 0 {
			var names []string
			for _, m := range compare.Gated() {
				names = append(names, m.Name)
			}
			return nil, usagef("--gate: there is no limit on %q: choose from %s", name, strings.Join(names, ", "))
		}
		g = append(g, compare.Limit{Metric: compare.Gated()[i], Share: limit})
	}
	return g, nil
}

// gateError is a gate that did not let a build through.
type gateError struct {
	text     string
	breached gate // the limits that were; none: it could not be judged
}

func (e *gateError) Error() string { return e.text }

// judge holds the rounds from first to last to the gate; nil: it is passed.
func (g gate) judge(r *record.Run, recs []record.Record, first, last int) *gateError {
	block := slices.DeleteFunc(slices.Clone(recs), func(rec record.Record) bool { return rec.Round < first || rec.Round > last })
	rows := compare.Rows([]compare.Results{{Run: r, Records: block}})
	pairs := compare.Pairs(rows, compare.Against("contender", r.Baseline))
	var losses, unknown []string
	var breached gate
	for _, limit := range g {
		if len(pairs) == 0 {
			unknown = append(unknown, limit.Metric.Name+": the builds have no good round in common")
			continue
		}
		v := compare.Judge(pairs[:1], limit.Metric, r.Delta)[0]
		if why := limit.Unknown(v); why != "" {
			unknown = append(unknown, limit.Metric.Name+": "+why)
		} else if limit.Breached(v) {
			breached = append(breached, limit)
			losses = append(losses, fmt.Sprintf("%s is %.3g × that of %s [%.3g, %.3g], the limit is %.3g %%",
				limit.Metric.Name, v.Ratio.Median, oldName, v.Low, v.High, 100*limit.Share))
		}
	}
	switch {
	case len(losses) > 0:
		return &gateError{"the gate found a regression: " + strings.Join(losses, "; "), breached}
	case len(unknown) > 0:
		return &gateError{"the gate cannot be judged: " + strings.Join(unknown, "; "), nil}
	}
	return nil
}
