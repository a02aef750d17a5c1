package matrix

import (
	"errors"
	"os"
	"testing"
)

// Whatever a file holds, Parse gives a matrix that keeps its promises or an
// *Error that points into the file.
func FuzzParse(f *testing.F) {
	real, err := os.ReadFile("../../matrix.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(real)
	for _, entries := range []string{
		"", "work: [1, 2], t: [{rate: 1.5, threads: 2}]", "work: 010", "pattern: batch, io_model: [shared, sharded], threads: [1, 2]",
		"override: [{when: {payload: 64}, set: {protocol: udp}}], exclude: [{when: {protocol: udp}, why: x}]",
		"buffers: {send: 1KiB}, question: 'é'", "a: &a [*a]", "warmup: 1", "<<: {}", "work: !!int 1",
	} {
		f.Add([]byte(suite(entries)))
	}
	for _, junk := range []string{"0::", "", "---\n---\n", "\xff\xfea", "[[[[", "a: *b", "a: |\n x\n\n", "? [a]\n: b", "\ufeff# x\r\n"} {
		f.Add([]byte(junk))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse("m.yaml", src)
		if err != nil {
			checkError(t, err)
			return
		}
		for _, s := range m.Suites {
			for _, c := range s.Cells {
				if err := c.Validate(); err != nil || c != c.Canonical() {
					t.Errorf("suite %s: cell %v is not canonical or %v", s.Name, c, err)
				}
			}
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	switch {
	case !errors.As(err, &e):
		t.Errorf("got %T, want *Error", err)
	case e.Line < 1 || e.Column < 1 || e.Msg == "" || e.Excerpt == "":
		t.Errorf("got %+v, want a position, a message and an excerpt", e)
	}
}
