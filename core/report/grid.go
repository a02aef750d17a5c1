package report

import (
	"strings"
	"unicode/utf8"
)

// A colour is an escape sequence of the terminal.
type colour string

const (
	bold  colour = "\x1b[1m"
	red   colour = "\x1b[31m"
	reset        = "\x1b[0m"
)

// entry is one field of a grid; it may have several lines.
type entry struct {
	text   string
	colour colour // "": none
}

// grid lays out rows in columns, the first to the left, the others to the
// right, with a rule under the first row. Every row has the same length.
type grid [][]entry

// String renders the grid, painting each line of an entry with paint, which
// adds nothing to its width.
func (g grid) String(paint func(string, colour) string) string {
	const gap = "  "
	widths := g.widths()
	var b strings.Builder
	for i, row := range g {
		for l := range height(row) {
			var line strings.Builder
			for c, e := range row {
				if c > 0 {
					line.WriteString(gap)
				}
				text := lineOf(e, l)
				blanks := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text))
				if text != "" {
					text = paint(text, e.colour)
				}
				if c == 0 {
					line.WriteString(text + blanks)
				} else {
					line.WriteString(blanks + text)
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		if i == 0 {
			b.WriteString(strings.Repeat("─", sum(widths)+len(gap)*(len(widths)-1)) + "\n")
		}
	}
	return b.String()
}

func (g grid) widths() []int {
	widths := make([]int, len(g[0]))
	for _, row := range g {
		for c, e := range row {
			for line := range strings.SplitSeq(e.text, "\n") {
				widths[c] = max(widths[c], utf8.RuneCountInString(line))
			}
		}
	}
	return widths
}

func height(row []entry) int {
	h := 0
	for _, e := range row {
		h = max(h, 1+strings.Count(e.text, "\n"))
	}
	return h
}

// lineOf is line l of an entry, "" below its last.
func lineOf(e entry, l int) string {
	if lines := strings.Split(e.text, "\n"); l < len(lines) {
		return lines[l]
	}
	return ""
}

func sum(list []int) int {
	n := 0
	for _, x := range list {
		n += x
	}
	return n
}

// wrap breaks s between words so that no line is longer than width, unless a
// word is, and indents all lines but the first.
func wrap(s string, width int) string {
	const indent = "  "
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
