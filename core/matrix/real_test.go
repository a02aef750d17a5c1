package matrix

import (
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
)

// The matrix of this repository expands to what its comments say.
func TestRealMatrix(t *testing.T) {
	m, err := Load("../../matrix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Baseline, (cell.Contender{Runtime: "coroutine", Execution: cell.Goroutine}); got != want {
		t.Errorf("baseline: got %v, want %v", got, want)
	}
	for _, r := range m.Runtimes {
		if r.Plugin != "bin/plugins/"+r.Name {
			t.Errorf("runtime %s: got plugin %s", r.Name, r.Plugin)
		}
	}
	for _, tt := range []struct {
		suite         string
		cells, trials int // trials in a round, twins included
		rounds        int
		sharded       int // of coroutine, which lacks it
		contrast      string
	}{
		{"quick", 12, 2, 3, 0, "contender"},
		{"reference", 840, 1050, 3, 84, "io_model"},
		{"dimensions", 216, 252, 3, 12, "contender"},
		{"execution", 24, 4, 7, 0, "execution"},
		{"protocols", 42, 7, 3, 0, "protocol"},
	} {
		s, err := m.Suite(tt.suite)
		if err != nil {
			t.Error(err)
			continue
		}
		sharded := 0
		for _, c := range s.Cells {
			if c.Runtime == "coroutine" && c.IOModel == cell.Sharded {
				sharded++
			}
		}
		trials := len(Schedule(s, s.Cells, 1, 1))
		if len(s.Cells) != tt.cells || trials != tt.trials || sharded != tt.sharded || s.Contrast != tt.contrast {
			t.Errorf("%s: got %d cells, %d trials, %d sharded for coroutine, contrast %s; want %+v",
				tt.suite, len(s.Cells), trials, sharded, s.Contrast, tt)
		}
		if s.Rounds != tt.rounds || s.Warmup != 250*time.Millisecond || s.Measure != time.Second {
			t.Errorf("%s: got %d rounds, warmup %v, measure %v; want %d and the defaults", tt.suite, s.Rounds, s.Warmup, s.Measure, tt.rounds)
		}
		if !strings.HasSuffix(s.Question, "?") {
			t.Errorf("%s: got question %q", tt.suite, s.Question)
		}
	}
}
