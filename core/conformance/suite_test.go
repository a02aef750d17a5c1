package conformance_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

func TestReferencePasses(t *testing.T) {
	conformance.TestRuntime(t, func(*testing.T) transport.Runtime { return &reference{} })
}

// TestFaultsAreFound: each mistake is found by the case that is about it.
func TestFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		by     string
		faults faults
	}{
		{"PausesReads", faults{readsOn: true}},
		{"Bounded", faults{readsOn: true}},
		{"DialReadsOn", faults{dialPauses: true}},
		{"SendsBeforeError", faults{closesAtOnce: true}},
		{"SendsBeforeError", faults{neverLingers: true}},
		{"Linger", faults{lingersLong: true}},
		{"WakeAtNext", faults{wakesEarly: true}},
		{"WakeReplaced", faults{forgetsWake: true}},
		{"WakeAfterOpen", faults{wakesOnData: true}},
		{"Serial", faults{unserialised: true}},
		{"HalfClose", faults{swallowsEnd: true}},
		{"Reset", faults{hidesErrors: true}},
		{"Echo", faults{closesTwice: true}},
		{"HangUp", faults{losesTail: true}},
		{"EchoInPlace", faults{reusesBuffer: true}},
		{"EchoAlternating", faults{lendsInput: true}},
		{"DoneBehindOutput", faults{hurries: true}},
		{"WakeOverdue", faults{wakesFirst: true}},
		{"CloseCause", faults{hidesClosing: true}},
		{"NoDelay", faults{delays: true}},
		{"Echo", faults{leaks: true}},
		{"Lacks", faults{takesAll: true}},
		{"Lacks", faults{namesNothing: true}},
		{"Lacks", faults{forgetsClose: true}},
		{"Unknown", faults{takesUnknown: true}},
		{"BusyLacking", faults{takesBusy: true}},
		{"DialRefused", faults{keepsDialled: true}},
		{"DatagramCut", faults{joins: true}},
	} {
		if raceEnabled && (c.faults.unserialised || c.faults.reusesBuffer) {
			continue // the race detector finds these, and fails this test
		}
		t.Run(c.by, func(t *testing.T) {
			if !found(t, c.by, &reference{faults: c.faults}) {
				t.Errorf("a runtime with the fault passes: %+v", c.faults)
			}
		})
	}
}

// found tries a case a few times: some faults show only when the peer is slow
// or two calls coincide.
func found(t *testing.T, by string, r *reference) bool {
	t.Helper()
	cases := conformance.Cases()
	i := slices.IndexFunc(cases, func(k conformance.Case) bool { return k.Name == by })
	if i < 0 {
		t.Fatalf("there is no case %s", by)
	}
	patience := time.Second // of a case that a fault makes hang
	if cases[i].Waits {
		patience = 3 * time.Second
	}
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := cases[i].Check(ctx, conformance.Variants(r.Info())[0], r)
		cancel()
		if err != nil {
			t.Log(err) // with -v one sees that it was found for the right reason
			return true
		}
	}
	return false
}

func TestCasesAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conformance.Cases() {
		if seen[c.Name] || c.Name == "" || c.Rule == "" || c.Run == nil {
			t.Errorf("case %q is named twice or lacks a part", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestVariantsFollowInfo(t *testing.T) {
	for _, c := range []struct {
		lacks []transport.Lack
		want  []string
	}{
		{nil, []string{
			"callback-shared-1", "callback-shared-2", "callback-sharded-2",
			"goroutine-shared-1", "goroutine-shared-2", "goroutine-sharded-2",
		}},
		{[]transport.Lack{{Axis: "execution", Value: "callback"}, {Axis: "io_model", Value: "sharded"}},
			[]string{"goroutine-shared-1", "goroutine-shared-2"}},
	} {
		var got []string
		for _, v := range conformance.Variants(transport.Info{Lacks: c.lacks}) {
			got = append(got, v.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("lacking %v: got %v, want %v", c.lacks, got, c.want)
		}
	}
}
