package doctor

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	var b strings.Builder
	err := Text(&b, []Finding{
		{Check: "cpus", Level: OK, Found: "4 CPUs", Why: "is not said"},
		{Check: "governor", Level: Warning, Found: "powersave", Why: strings.Repeat("word ", 12), Mend: "keep it up:", Command: strings.Repeat("command ", 11) + "end"},
		{Check: "power", Level: Note, Found: "battery", Why: "it is slow"},
		{Check: "irq time", Level: Skipped}, {Check: "boost", Level: Skipped},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `ok       cpus            4 CPUs
warning  governor        powersave
                         why: word word word word word word word word word word
                           word word
                         do: keep it up:
                           ` + strings.Repeat("command ", 11) + `end
note     power           battery
                         why: it is slow
skipped                  this system does not tell: irq time, boost

1 warning, 1 note
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for _, tt := range conditions {
		s := fit()
		tt.spoil(&s)
		var b strings.Builder
		findings := Examine(s)
		for i := range findings {
			findings[i].Command = "" // stays whole
		}
		if err := Text(&b, findings); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestTextToNobody(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := Text(w, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want that of the writer", err)
	}
}

func TestRanges(t *testing.T) {
	for want, cpus := range map[string][]int{"": nil, "3": {3}, "0-2": {0, 1, 2}, "0-1,4,6-7": {0, 1, 4, 6, 7}, "2,0": {2, 0}} {
		if got := ranges(cpus); got != want {
			t.Errorf("ranges(%v) = %q, want %q", cpus, got, want)
		}
	}
}
