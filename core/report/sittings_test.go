package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

func TestSittings(t *testing.T) {
	run, recs := madeUp()
	later, laterRecs := madeUp()
	later.RunID = "20261011-0700"
	later.Plugins = []record.Plugin{{Name: "rawpoll", SHA256: strings.Repeat("ab", 32), GoVersion: "go1.27"}}
	run.Plugins = []record.Plugin{{Name: "rawpoll", SHA256: strings.Repeat("cd", 32), GoVersion: "go1.26"}}
	before := compare.Results{Run: run, Records: recs}
	after := compare.Results{Run: later, Records: laterRecs[3:]}
	write := func(forced []compare.Difference) string {
		var out bytes.Buffer
		if err := report.Sittings(&out, before, after, forced, report.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	golden(t, "sittings_80.txt", write(nil))
	if got := write([]compare.Difference{{What: "kernel", Before: "6.1", After: ""}}); !strings.Contains(got, "FORCED") || !strings.Contains(got, "- kernel: 6.1 → not known") {
		t.Errorf("the page does not say that it is forced:\n%s", got)
	}
}
