package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
)

// A contrast is a page of ratios along one axis.
type contrast struct {
	page, axis, title string
	about             []string
	subject           string // heads the first column
	name              func(compare.Pair) string
}

var contrasts = []contrast{
	{
		page: "execution.md", axis: "execution", title: "Callbacks and goroutines", subject: "contenders, IO model",
		about: []string{
			"Each ratio is a callback's figure divided by that of goroutines, over the same library, in the same round. Package net has a runtime for each execution: stdnet calls back, coroutine does not.",
			"Stream and batch stand in sections of their own: the RTT of a message and that of a whole batch cannot be compared.",
		},
		name: func(p compare.Pair) string {
			return escape(p.Row.Contender().String()) + " ÷ " + escape(p.Base.Contender().String()) + ", " + ioModel(p.Row.Cell)
		},
	},
	{
		page: "io-models.md", axis: "io_model", title: "IO models", subject: "contender, IO model",
		about: []string{
			"Each ratio is an IO model's figure divided by that of " + ioModel(cell.Cell{IOModel: cell.Shared, Threads: 1}) + ", of the same contender and workload, in the same round.",
			"Where a row is oversubscribed, its IO threads had to share CPUs, and nothing follows about its IO model.",
		},
		name: func(p compare.Pair) string { return name(p.Row) },
	},
}

// ratioed are the figures that a page of ratios shows.
var ratioed = []struct {
	name   string
	metric compare.Metric
}{
	{"throughput", compare.Throughput},
	{"p50", compare.P50},
	{"p99", compare.P99},
	{"CPU per round trip", compare.CPUPerTrip},
}

// contrast is the page of a contrast, if the records have something to set
// against each other.
func (s *site) contrast(c contrast) (Page, bool) {
	d := &document{}
	d.heading(1, c.title)
	d.paragraph("%s · %s", link("Overview", "index.md"), link("what the figures mean", "index.md#definitions"))
	d.list(append(c.about,
		"A ratio is the median over the rounds of the ratios within a round. With it stands its 95 % interval and what may be said, or, from fewer than "+strconv.Itoa(compare.MinRounds)+" rounds, the range [min, max]. Throughput above 1 is more; RTT and CPU below 1 are less.",
		"A dash: not measured, or a throughput that the load limited and that therefore has no ratio."))
	found := false
	for _, w := range s.workloads {
		pairs := compare.Pairs(w.Rows, compare.Against(c.axis, w.Run.Baseline))
		if len(pairs) > 0 {
			found = true
			c.section(d, w, pairs)
		}
	}
	return d.page(c.page), found
}

func (c contrast) section(d *document, w compare.Group, pairs []compare.Pair) {
	d.heading(2, escape(title(w.Cell)))
	d.paragraph("Suite %s; %s.", code(w.Run.Suite), link("all figures", protocolPage(w.Cell.Protocol)))
	head := []string{c.subject}
	for _, r := range ratioed {
		head = append(head, r.name)
	}
	head = append(head, "rounds", "flags")
	var rows [][]string
	open := legend{delta: delta(w.Run)}
	var verdicts [][]compare.Verdict // by metric
	for _, r := range ratioed {
		verdicts = append(verdicts, compare.Judge(pairs, r.metric, open.delta))
	}
	for i, p := range pairs {
		fields := []string{c.name(p)}
		rounds := 0
		for _, of := range verdicts {
			v := of[i]
			rounds = max(rounds, v.Ratio.N)
			text := strings.TrimSpace(open.ratio(v))
			if word := v.String(); word != "" {
				text += "<br>" + word
			}
			fields = append(fields, text)
		}
		rows = append(rows, append(fields, strconv.Itoa(rounds), pairMarks(p)))
	}
	d.table("lrrrrrl", head, rows)
	d.list(open.lines())
}

// pairMarks are the flags of both rows of a pair, each once.
func pairMarks(p compare.Pair) string {
	row, base := marks(p.Row), marks(p.Base)
	switch {
	case base == "" || base == row:
		return row
	case row == "":
		return fmt.Sprintf("reference: %s", base)
	}
	return fmt.Sprintf("%s; reference: %s", row, base)
}
