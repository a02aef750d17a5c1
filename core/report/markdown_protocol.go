package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// protocol is the page with every workload of a protocol.
func (s *site) protocol(protocol string) Page {
	d := &document{}
	d.heading(1, escape(protocol))
	d.paragraph("%s · %s · %s", link("Overview", "index.md"), link("test conditions", "index.md#test-conditions"), link("what the figures mean", "index.md#definitions"))
	d.list(append(s.reading(), s.negotiated(protocol)...))
	for _, w := range s.workloads {
		if w.Cell.Protocol == protocol {
			s.workload(d, w)
		}
	}
	return d.page(protocolPage(protocol))
}

// protocolPage is the file of a protocol. Records may come from anywhere, so a
// name that is none cannot lead out of the folder.
func protocolPage(protocol string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, protocol) + ".md"
}

// reading says how to read the tables.
func (s *site) reading() []string {
	return []string{
		"Each figure is the median over the good trials of its row, [min, max] their range. A range is no confidence interval.",
		"A percentile is the median of the trials' own percentiles; samples of different trials are not pooled.",
		"CPU: 100 % is one CPU busy all the time; several threads can use more." + s.wholeMachine(),
		"A dash: not measured in every good trial; for a percentile, fewer than ten samples lay beyond it.",
	}
}

// negotiated is what the ends of a protocol agreed on for TLS.
func (s *site) negotiated(protocol string) []string {
	var all []string
	for _, r := range s.rows {
		if r.Cell.Protocol == protocol {
			all = append(all, distinct(r.Records, func(rec record.Record) string { return serving(rec).TLS })...)
		}
	}
	var list []string
	for _, tls := range distinct(all, escape) {
		if tls != "" {
			list = append(list, "TLS negotiated: "+tls)
		}
	}
	return list
}

// wholeMachine relates one CPU to all of them, if the runs have the same number.
func (s *site) wholeMachine() string {
	n := 0
	for _, res := range s.all {
		cores := res.Run.Environment.LogicalCores
		if cores == nil || *cores <= 0 || (n > 0 && *cores != n) {
			return ""
		}
		n = *cores
	}
	return fmt.Sprintf(" With %d logical cores, the share of the whole machine is CPU / %d: 100 %% are %s %% of it.", n, n, figure(100/float64(n), 0))
}

// workload is the section of one workload.
func (s *site) workload(d *document, w compare.Group) {
	d.heading(2, escape(title(w.Cell)))
	d.paragraph("%s. Suite %s.", capital(measured(w.Cell)), code(w.Run.Suite))
	for _, f := range s.findings(w) {
		scope := ""
		if f.scope.IOModel != "" {
			scope = ioModel(f.scope) + ": "
		}
		d.paragraph("%s", capital(scope+f.text))
	}
	head, rows := figures(w)
	d.table("l"+strings.Repeat("r", len(quantities)+1)+"l", head, rows)
	d.list(troubles(w.Rows))
	d.list(openLoops(w.Rows))
	d.list(alsoDiffers(w.Rows))
	d.folded("Commands that measure each row again", func() { d.code(commands(w.Rows)...) })
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// figures is the table of a workload.
func figures(w compare.Group) (head []string, rows [][]string) {
	process := "server "
	if w.Cell.Placement == cell.Colocated {
		process = "process "
	}
	head = []string{"contender, IO model"}
	for _, q := range quantities {
		switch q.metric.Name {
		case compare.CPU.Name, compare.CPUPerTrip.Name:
			head = append(head, process+q.name)
		default:
			head = append(head, q.name)
		}
	}
	head = append(head, "rounds ok", "flags")
	for _, r := range w.Rows {
		rows = append(rows, figuresOf(r))
	}
	return head, rows
}

func figuresOf(r compare.Row) []string {
	fields := []string{name(r)}
	for i, q := range quantities {
		text := q.of(r)
		switch {
		case i == 0 && r.Count(record.OK) == 0:
			text = standing(r)
		case (i == 0 || q.metric.Name == compare.Payload.Name) && r.Flagged(record.FlagLoadBound):
			text = "≥ " + text
		}
		fields = append(fields, text)
	}
	return append(fields, fmt.Sprintf("%d of %d", r.Count(record.OK), max(r.Planned, len(r.Records))), marks(r))
}

// marks are a row's flags and error counts in a few words.
func marks(r compare.Row) string {
	trials := flagged(r)
	var list []string
	for _, flag := range slices.Sorted(maps.Keys(trials)) {
		if n := r.Count(record.OK); trials[flag] < n {
			flag = fmt.Sprintf("%s in %d of %d", flag, trials[flag], n)
		}
		list = append(list, escape(flag))
	}
	kinds := errorCounts(r)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, escape(kind)+" "+thousands(strconv.FormatInt(kinds[kind], 10)))
	}
	return strings.Join(list, ", ")
}

// troubles say why trials are not good, row by row.
func troubles(rows []compare.Row) []string {
	var list []string
	for _, r := range rows {
		for _, why := range append(reasons(r), repeated(r)...) {
			list = append(list, name(r)+": "+escape(why))
		}
	}
	missing := func(r compare.Row) string {
		return fmt.Sprintf("%d of %d trials not run", r.Planned-len(r.Records), r.Planned)
	}
	incomplete := slices.DeleteFunc(slices.Clone(rows), func(r compare.Row) bool { return len(r.Records) >= r.Planned })
	for _, m := range distinct(incomplete, missing) {
		var names []string
		for _, r := range incomplete {
			if missing(r) == m {
				names = append(names, name(r))
			}
		}
		list = append(list, m+": "+strings.Join(names, "; "))
	}
	return list
}

// openLoops say how the RTTs of an open loop are made up, row by row.
func openLoops(rows []compare.Row) []string {
	var list []string
	for _, r := range rows {
		if n := openLoop(r); n != "" {
			list = append(list, name(r)+": "+n)
		}
	}
	return list
}

// alsoDiffers names what besides the runtime tells the contenders apart.
func alsoDiffers(rows []compare.Row) []string {
	users := map[string]map[string][]string{} // layer → module → runtimes
	for _, r := range rows {
		for _, rec := range r.Records {
			for layer, module := range rec.Stack {
				if users[layer] == nil {
					users[layer] = map[string][]string{}
				}
				if list := users[layer][module]; !slices.Contains(list, r.Cell.Runtime) {
					users[layer][module] = append(list, r.Cell.Runtime)
				}
			}
		}
	}
	delete(users, "event_loop") // it is the runtime
	var list []string
	for _, layer := range slices.Sorted(maps.Keys(users)) {
		modules := users[layer]
		if len(modules) < 2 {
			continue
		}
		var parts []string
		for _, module := range slices.Sorted(maps.Keys(modules)) {
			parts = append(parts, code(module)+" ("+strings.Join(modules[module], ", ")+")")
		}
		list = append(list, "Contenders differ also in "+escape(layer)+": "+strings.Join(parts, ", "))
	}
	return list
}

// commands measure the first trial of each row again.
func commands(rows []compare.Row) []string {
	lines := []string{"# The seed is that of the first round shown; each round has its own."}
	for _, r := range rows {
		if len(r.Records) > 0 {
			lines = append(lines, "# "+label(r), r.Records[0].Provenance.Command)
		}
	}
	return lines
}
