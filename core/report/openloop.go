package report

import (
	"fmt"
	"strconv"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// openLoop says of a row with a rate what part of its RTTs was waiting to be
// sent; "" of a closed loop, or without a good trial.
func openLoop(r compare.Row) string {
	var open bool
	var blocked int64
	for _, rec := range r.Records {
		if rec.Status == record.OK && rec.Metrics != nil && rec.Metrics.OpenLoop != nil {
			open = true
			blocked += rec.Metrics.Blocked
		}
	}
	if !open {
		return ""
	}
	of := func(m compare.Metric) string { return median(r.Series(m).Spread(), times, "") }
	s := fmt.Sprintf("from the actual sending RTT p50 %s, p99 %s; slip p50 %s, p99 %s", of(compare.SentP50), of(compare.SentP99), of(compare.SlipP50), of(compare.SlipP99))
	if blocked > 0 {
		s += fmt.Sprintf("; %s messages had to wait for a place in the window", thousands(strconv.FormatInt(blocked, 10)))
	}
	return s
}
