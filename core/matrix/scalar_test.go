package matrix

import (
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "64": 64, "64B": 64, "16KiB": 16 << 10, "1MiB": 1 << 20, "1048577": 1<<20 + 1,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "B", "1.5KiB", "16kB", "16K", "16KB", "1GiB", "-1KiB", "010KiB", "1_0KiB", "16 KiB", "0x10", "KiB16"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%s: got %d, want an error", text, got)
		}
	}
}

// What cell.Bytes writes can be read back.
func TestParseBytesReadsWhatCellsPrint(t *testing.T) {
	for _, n := range []int{16, 1000, 1024, 1536, 16384, 1 << 20, 3 << 20} {
		if got, err := ParseBytes(cell.Bytes(n)); err != nil || got != n {
			t.Errorf("%s: got %d, %v; want %d", cell.Bytes(n), got, err, n)
		}
	}
}

func TestDecimal(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "0.5": 0.5, "1000": 1000, "2.50": 2.5} {
		if got, err := decimal(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", ".5", "5.", "01", "1e3", "1_0", "0x1", "inf", "NaN", "1,5"} {
		if got, err := decimal(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"payload", "protocol", "clients", "io_model", "when"}
	for word, want := range map[string]string{
		"paylod": "payload", "Payload": "payload", "cleints": "clients", "io-model": "io_model", "protcol": "protocol",
		"wehn": "when", "rate": "", "x": "", "": "", strings.Repeat("payload", 1000): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
}
