package report

import (
	"fmt"
	"strings"
	"unicode"
)

// document is a Markdown page in the making. Text that comes from records goes
// through escape or a code block; a heading, paragraph, list, table or code
// block ends with an empty line, so that the next one begins.
type document struct{ text strings.Builder }

func (d *document) heading(level int, text string) {
	fmt.Fprintf(&d.text, "%s %s\n\n", strings.Repeat("#", level), text)
}

func (d *document) paragraph(format string, args ...any) {
	fmt.Fprintf(&d.text, format+"\n\n", args...)
}

func (d *document) list(items []string) {
	for _, item := range items {
		d.text.WriteString("- " + item + "\n")
	}
	if len(items) > 0 {
		d.text.WriteByte('\n')
	}
}

// table writes rows under a head. align has a letter for each column: l for
// words, which stand to the left, r for figures.
func (d *document) table(align string, head []string, rows [][]string) {
	d.row(head)
	var rule []string
	for _, side := range align {
		rule = append(rule, map[rune]string{'l': "---", 'r': "---:"}[side])
	}
	d.row(rule)
	for _, r := range rows {
		d.row(r)
	}
	d.text.WriteByte('\n')
}

func (d *document) row(fields []string) {
	d.text.WriteString("| " + strings.Join(fields, " | ") + " |\n")
}

// code writes lines to be copied, within a fence that they cannot close.
func (d *document) code(lines ...string) {
	text := strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(&d.text, "%ssh\n%s\n%s\n\n", fence, text, fence)
}

// folded hides what write writes until a reader asks for it.
func (d *document) folded(summary string, write func()) {
	fmt.Fprintf(&d.text, "<details>\n<summary>%s</summary>\n\n", summary)
	write()
	d.text.WriteString("</details>\n\n")
}

func (d *document) page(name string) Page {
	return Page{Name: name, Data: []byte(strings.TrimRight(d.text.String(), "\n") + "\n")}
}

// escape makes s plain text on one line, also within a table.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_[]<>|&~$", r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
