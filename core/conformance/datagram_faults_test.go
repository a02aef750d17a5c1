package conformance_test

import "testing"

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
			if !found(t, c.by, &reference{faults: c.faults}) {
				t.Errorf("a runtime with the fault passes: %+v", c.faults)
			}
		})
	}
}
