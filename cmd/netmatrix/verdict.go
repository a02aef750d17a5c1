package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netmatrix/netmatrix/core/record"
)

// trialsError says that the run finished and not everything in it is good.
type trialsError struct{ text string }

func (e *trialsError) Error() string { return e.text }

// verdict is nil when the status of every record is among the good ones. What a
// runtime cannot do is no fault of a run, which shows it; who asks bench for it
// gets nothing.
func verdict(recs []record.Record, good ...string) error {
	n := make(map[string]int)
	bad := 0
	for _, r := range recs {
		n[r.Status]++
		if !slices.Contains(good, r.Status) {
			bad++
		}
	}
	switch {
	case bad == 0:
		return nil
	case len(recs) == 1:
		return &trialsError{fmt.Sprintf("%s: %s", recs[0].Status, recs[0].Reason)}
	}
	var parts []string
	for _, s := range []string{record.Failed, record.Invalid, record.Unsupported} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return &trialsError{fmt.Sprintf("%d of %d records ok, %s", n[record.OK], len(recs), strings.Join(parts, ", "))}
}
