package goplugin

import (
	"bytes"
	"strings"
	"testing"
)

func TestTailKeepsTheEnd(t *testing.T) {
	var all bytes.Buffer
	for i := range 200_000 {
		all.WriteByte(byte('a' + i%23))
	}
	want := all.String()[all.Len()-tailBytes:]
	for _, size := range []int{1, 1000, tailBytes, all.Len()} {
		var tl tail
		for rest := all.Bytes(); len(rest) > 0; {
			n := min(size, len(rest))
			if got, err := tl.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("Write = %d, %v, want %d", got, err, n)
			}
			rest = rest[n:]
		}
		if got := tl.String(); got != want {
			t.Errorf("written %d bytes at a time: kept %d bytes, not the last %d", size, len(got), tailBytes)
		}
	}
}

func TestTailQuotes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "it wrote nothing to stderr"},
		{" \n", "it wrote nothing to stderr"},
		{"one\n\ttwo\n", "its stderr ends: one two"},
		{strings.Repeat("é", 300), "its stderr ends: …" + strings.Repeat("é", 200)},
	} {
		var tl tail
		_, _ = tl.Write([]byte(c.in))
		if got := tl.quote(); got != c.want {
			t.Errorf("quote of %q = %q, want %q", c.in, got, c.want)
		}
	}
}
