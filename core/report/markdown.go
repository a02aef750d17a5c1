package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
)

// Page is one file of a report.
type Page struct {
	Name string // of the file
	Data []byte
}

// Markdown makes a folder of linked pages of disjoint results: an index, one
// page for each protocol, one for each contrast that the records show, and one
// on where the figures come from. The same results, one at least, give the same
// bytes.
func Markdown(all []compare.Results) []Page {
	s := newSite(all)
	var pages []Page
	for _, protocol := range s.protocols() {
		pages = append(pages, s.protocol(protocol))
	}
	for _, c := range contrasts {
		if p, ok := s.contrast(c); ok {
			pages = append(pages, p)
		}
	}
	pages = append(pages, s.data())
	return append([]Page{s.index(pages)}, pages...)
}

// site is what all pages are made from.
type site struct {
	all       []compare.Results
	rows      []compare.Row
	workloads []compare.Group
	verdicts  map[place]compare.Verdict // on throughput, by the row set against another in its suite's contrast
}

// place is where a row stands in a site.
type place struct {
	suite string
	cell  cell.Cell
}

func newSite(all []compare.Results) *site {
	rows := compare.Rows(all)
	s := &site{all: all, rows: rows, workloads: compare.Workloads(rows), verdicts: map[place]compare.Verdict{}}
	for _, res := range all {
		pairs := compare.Pairs(rows, compare.Against(res.Run.Contrast, res.Run.Baseline))
		for _, v := range compare.Judge(pairs, compare.Throughput, delta(res.Run)) {
			if r := v.Pair.Row; r.Run == res.Run {
				s.verdicts[place{res.Run.Suite, r.Cell}] = v
			}
		}
	}
	return s
}

// verdict is on a row and what its suite sets it against.
func (s *site) verdict(r compare.Row) (compare.Verdict, bool) {
	v, ok := s.verdicts[place{r.Run.Suite, r.Cell}]
	return v, ok
}

// protocols are those that have rows, in the order of the axis.
func (s *site) protocols() []string {
	return distinct(s.workloads, func(g compare.Group) string { return g.Cell.Protocol })
}

// suites are those of the results.
func (s *site) suites() []string {
	return distinct(s.all, func(r compare.Results) string { return r.Run.Suite })
}

// distinct lists what of gives for each item, once, in order of appearance.
func distinct[T any](items []T, of func(T) string) []string {
	var list []string
	for _, item := range items {
		if v := of(item); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// label is a row's contender and IO model.
func label(r compare.Row) string { return r.Contender().String() + ", " + ioModel(r.Cell) }

// name is the label as Markdown.
func name(r compare.Row) string { return escape(label(r)) }

// link points to another page.
func link(text, page string) string { return fmt.Sprintf("[%s](%s)", text, page) }

// codeText replaces what would end a code span or the field of a table.
var codeText = strings.NewReplacer("`", "'", "|", "¦", "\n", " ")

// code marks a hash or a file name; what has none is a dash.
func code(s string) string {
	if s == "" {
		return dash
	}
	return "`" + codeText.Replace(s) + "`"
}
