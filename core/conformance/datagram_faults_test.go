package conformance_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/conformance"
)

// TestDatagramFaultsAreFound: as TestFaultsAreFound.
func TestDatagramFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		by     string
		faults faults
	}{
		{"DatagramSizes", faults{cutsShort: true}},
		{"DatagramDone", faults{staysOpen: true}},
		{"DatagramRefused", faults{givesUp: true}},
		{"DatagramRefused", faults{neverGivesUp: true}},
	} {
		t.Run(c.by, func(t *testing.T) {
			cases := conformance.Cases()
			i := slices.IndexFunc(cases, func(k conformance.Case) bool { return k.Name == c.by })
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			r := &reference{faults: c.faults}
			if err := cases[i].Check(ctx, conformance.Variants(r.Info())[0], r); err == nil {
				t.Errorf("a runtime with the fault passes: %+v", c.faults)
			}
		})
	}
}
