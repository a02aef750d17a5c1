package report

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/netmatrix/netmatrix/core/compare"
)

// data is the page on where the figures come from.
func (s *site) data() Page {
	d := &document{}
	d.heading(1, "Data")
	d.paragraph("%s", link("Overview", "index.md"))
	d.heading(2, "Runs")
	var rows [][]string
	for _, res := range s.all {
		first, last := "", ""
		if n := len(res.Records); n > 0 {
			first, last = res.Records[0].StartedAt, res.Records[n-1].StartedAt
		}
		rows = append(rows, []string{code(res.Run.RunID), code(res.Run.Suite), code(filepath.Join(res.Dir, "trials.jsonl")),
			code(first), code(last), strconv.Itoa(len(res.Records)), strconv.Itoa(res.Run.Planned())})
	}
	d.table("lllllrr", []string{"run", "suite", "file", "first trial", "last trial", "records", "planned"}, rows)
	d.paragraph("Times are UTC. The file has a record a line, every attempt included; `run.json` beside it holds the schedule, the matrix and the machine.")
	d.heading(2, "Builds")
	d.paragraph("The source is the hash of the tree that a plugin was built from, what was not committed included.")
	d.table("llrlllll", []string{"runtime", "protocol", "records", "source SHA-256", "plugin SHA-256", "load SHA-256", "netmatrix SHA-256", "Go"}, builds(s.all))
	d.heading(2, "Repeat a run")
	for _, res := range s.all {
		d.code("# "+res.Run.RunID, res.Run.Command)
	}
	d.paragraph("Without `--seed` a run draws a new seed, and with it another order; the seeds used are among the %s. Each row's own command stands under its table.", link("test conditions", "index.md#test-conditions"))
	return d.page("data.md")
}

// builds counts the records of each build of a runtime, protocol by protocol.
func builds(all []compare.Results) [][]string {
	type build struct{ runtime, protocol, source, plugin, load, driver, version string }
	count := map[build]int{}
	var order []build
	for _, res := range all {
		for _, r := range res.Records {
			p := r.Provenance
			b := build{r.Cell.Runtime, r.Cell.Protocol, p.SourceSHA256, p.PluginSHA256, p.LoadSHA256, p.DriverSHA256, p.GoVersion}
			if count[b] == 0 {
				order = append(order, b)
			}
			count[b]++
		}
	}
	slices.SortStableFunc(order, func(a, b build) int {
		return cmp.Or(cmp.Compare(a.runtime, b.runtime), cmp.Compare(a.protocol, b.protocol))
	})
	var rows [][]string
	for _, b := range order {
		rows = append(rows, []string{escape(b.runtime), escape(b.protocol), strconv.Itoa(count[b]),
			code(b.source), code(b.plugin), code(b.load), code(b.driver), escape(orWord(b.version, unknown))})
	}
	return rows
}
