package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
)

// Sittings writes what two runs, each at its own time, show of the cells that
// both have. forced are the differences that would have been reason to refuse.
func Sittings(w io.Writer, before, after compare.Results, forced []compare.Difference, opt Options) error {
	if opt.Width <= 0 {
		opt.Width = 100
	}
	p := &page{opt: opt}
	p.line("%s", p.paint(fmt.Sprintf("netmatrix %s against %s", after.Run.RunID, before.Run.RunID), bold))
	p.wrapped("Two sittings, the weak form: whatever changed between them is in every ratio, so no verdict is drawn. netmatrix ab measures two builds in one run.")
	if len(forced) > 0 {
		p.line("%s", p.paint("FORCED: the two are not comparable, since they differ in", red))
		p.differences(forced)
	}
	p.line("%s", "under test:")
	if builds := compare.Builds(before, after); len(builds) > 0 {
		p.differences(builds)
	} else {
		p.wrapped("- the same builds in both")
	}
	p.wrapped("before, " + noiseFloor([]compare.Results{before}, before.Run))
	p.wrapped("after, " + noiseFloor([]compare.Results{after}, after.Run))
	s := compare.Sit(before, after)
	p.common(s.Common)
	p.missing("only before: ", s.OnlyBefore)
	p.missing("only after: ", s.OnlyAfter)
	if _, err := io.WriteString(w, p.out.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (p *page) differences(list []compare.Difference) {
	for _, d := range list {
		p.wrapped(fmt.Sprintf("- %s: %s → %s", d.What, shortened(orWord(d.Before, unknown)), shortened(orWord(d.After, unknown))))
	}
}

// shortened is enough of a hash to tell it from another.
func shortened(s string) string {
	const hash, enough = 64, 12
	if len(s) == hash && !strings.ContainsAny(s, " {[") {
		return s[:enough]
	}
	return s
}

// common writes the ratios of the cells that both runs have.
func (p *page) common(list []compare.Sitting) {
	p.line("")
	if len(list) == 0 {
		p.line("no cell has good trials in both")
		return
	}
	g := grid{{{text: "after ÷ before"}, {text: "round trips/s"}, {text: "CPU per trip"}, {text: "rounds"}}}
	var marks legend
	for _, s := range list {
		const width = 26 // leaves room for the ratios on a narrow terminal
		e := []entry{{text: wrap(s.After.Cell.String(), width)}}
		for _, m := range []compare.Metric{compare.Throughput, compare.CPUPerTrip} {
			e = append(e, entry{text: marks.ratio(compare.Verdict{Ratio: s.Ratio(m)})})
		}
		g = append(g, append(e, entry{text: fmt.Sprintf("%d, %d", s.Before.Series(compare.Throughput).Spread().N, s.After.Series(compare.Throughput).Spread().N)}))
	}
	p.grid(g)
	for _, line := range marks.lines() {
		p.wrapped(line)
	}
}

// missing lists the cells that only one run has.
func (p *page) missing(what string, rows []compare.Row) {
	var names []string
	for _, r := range rows {
		names = append(names, r.Cell.String())
	}
	if len(names) > 0 {
		p.wrapped(what + strings.Join(names, "; "))
	}
}
