package driver_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/record"
)

// attempts is a store in memory.
type attempts []record.Record

func (k *attempts) Append(recs ...record.Record) error {
	*k = append(*k, recs...)
	return nil
}

// While others use the CPUs a trial is measured again, as often as it may be;
// every attempt is kept, each says what came before it, and the last is flagged.
func TestDisturbedTrialIsRepeated(t *testing.T) {
	d := newDriver(t)
	for range 2 {
		spinner := exec.Command("sh", "-c", "while :; do :; done")
		if err := spinner.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() {
			_ = spinner.Process.Kill()
			_ = spinner.Wait()
		})
	}
	tr := trial(cell.Split, "good")
	tr.Measure, tr.Repeats, tr.Scenario.LoadWait = 500*time.Millisecond, 2, cell.Sleep
	tr.Twin = tr.Contenders[0]
	var store attempts
	var told []record.Record
	if err := d.RunAll(t.Context(), []driver.Trial{tr}, &store, func(p driver.Progress) { told = append(told, p.Records...) }); err != nil {
		t.Fatal(err)
	}
	if o := store[0].Validity.Others; o == nil {
		t.Skip("the system does not tell what others do")
	}
	if len(store) != 6 || len(told) != 6 {
		t.Fatalf("%d records are kept and %d told, want three attempts of a contender and its twin", len(store), len(told))
	}
	for i, r := range store {
		attempt := 1 + i/2
		if r.Attempt != attempt || r.Twin != (i%2 == 1) || !slices.Contains(r.Validity.Flags, record.FlagDisturbed) {
			t.Errorf("record %d: attempt %d, twin %t, flags %v; want attempt %d, disturbed", i, r.Attempt, r.Twin, r.Validity.Flags, attempt)
		}
		if says := strings.Contains(r.Detail, "others used"); says != (attempt > 1) {
			t.Errorf("record %d, attempt %d: detail %q", i, attempt, r.Detail)
		}
	}
	tr.Repeats, store = 0, nil
	if err := d.RunAll(t.Context(), []driver.Trial{tr}, &store, func(driver.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if len(store) != 2 {
		t.Errorf("%d records without repeats, want 2", len(store))
	}
}
