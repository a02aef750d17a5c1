package matrix

import (
	"fmt"
	"strings"
)

// An Error is the first thing wrong with a matrix file, and where.
type Error struct {
	File    string
	Line    int    // from 1
	Column  int    // from 1, in characters
	Msg     string // what is wrong; what would be right
	Excerpt string // the source line and, under it, a caret at Column
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s\n%s", e.File, e.Line, e.Column, e.Msg, e.Excerpt)
}

// excerpt shows the part of line around column with a caret under it.
func excerpt(line string, column int) string {
	const before, width = 60, 100
	text := []rune(strings.Map(printable, line))
	at := min(column-1, len(text))
	from := max(0, at-before)
	if len(text) <= width {
		from = 0
	}
	to := min(len(text), from+width)
	return string(text[from:to]) + "\n" + strings.Repeat(" ", at-from) + "^"
}

// printable keeps junk in a file from reaching a terminal, one column for one
// character.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case forbidden(r):
		return '?'
	}
	return r
}

// quote shows what a file or a flag says, shortened so that an error stays one line.
func quote(s string) string {
	const most = 48
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// suggest says which of the known words was probably meant, or what there is.
func suggest(word string, known []string) string {
	if k := nearest(word, known); k != "" {
		return fmt.Sprintf("did you mean %s?", quote(k))
	}
	return "use one of: " + strings.Join(known, ", ")
}

// nearest is the known word that word is a likely misspelling of, "" if none is.
func nearest(word string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		n := distance(strings.ToLower(word), strings.ToLower(k))
		if n < len(k) && n <= 1+len(k)/4 && (best == "" || n < least) {
			best, least = k, n
		}
	}
	return best
}

// distance counts the edits that make b of a: a letter added, dropped,
// replaced, or two neighbours swapped.
func distance(a, b string) int {
	if diff := len(a) - len(b); diff > 8 || diff < -8 {
		return 9 // far enough, and a long word costs no time
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
