package doctor

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
)

const (
	width  = 80
	margin = 25 // columns in front of the text of a finding
)

// Text writes findings for a reader, in 80 columns but for commands, which stay
// whole. Why a check is made is said where it found something.
func Text(w io.Writer, findings []Finding) error {
	var b strings.Builder
	var skipped []string
	for _, f := range findings {
		if f.Level == Skipped {
			skipped = append(skipped, f.Check)
			continue
		}
		paragraph(&b, fmt.Sprintf("%-8s %-15s", f.Level, f.Check), f.Found)
		if f.Level == OK {
			continue
		}
		paragraph(&b, "", "why: "+f.Why)
		if f.Mend != "" {
			paragraph(&b, "", "do: "+f.Mend)
		}
		if f.Command != "" {
			fmt.Fprintf(&b, "%*s%s\n", margin+2, "", f.Command)
		}
	}
	if len(skipped) > 0 {
		paragraph(&b, string(Skipped), "this system does not tell: "+strings.Join(skipped, ", "))
	}
	fmt.Fprintf(&b, "\n%s, %s\n", count(findings, Warning), count(findings, Note))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	return nil
}

// paragraph writes head in the margin and text beside it.
func paragraph(b *strings.Builder, head, text string) {
	line := fmt.Sprintf("%-*s", margin, head)
	columns := margin
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case columns+1+n > width:
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, columns = strings.Repeat(" ", margin+2), margin+2
		default:
			line, columns = line+" ", columns+1
		}
		line, columns = line+word, columns+n
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func count(findings []Finding, l Level) string {
	n := Count(findings, l)
	if n == 1 {
		return fmt.Sprintf("1 %s", l)
	}
	return fmt.Sprintf("%d %ss", n, l)
}

func percent(share float64) string   { return fmt.Sprintf("%.1f %%", 100*share) }
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
func mebibytes(n int64) string       { return fmt.Sprintf("%d MiB", n>>20) }
func size(n int64) string            { return cell.Bytes(int(n)) }
func yamlList(cpus []int) string     { return strings.ReplaceAll(fmt.Sprint(cpus), " ", ", ") }

// ranges writes a list of CPUs as the kernel does: 0-3,8.
func ranges(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// intersection is what is in both lists, in the order of the first.
func intersection(a, b []int) []int {
	var both []int
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		}
	}
	return both
}
