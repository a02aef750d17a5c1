package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// axes are the columns of a cell.
var axes = []string{"runtime", "execution", "io_model", "threads", "protocol", "payload", "clients", "window", "work",
	"pattern", "placement", "rate", "load_wait", "address_family"}

// figureColumns are the columns of figures, in the units of the record.
var figureColumns = []struct {
	name   string
	metric compare.Metric
}{
	{"roundtrips_per_second", compare.Throughput},
	{"payload_mib_per_second", compare.Payload},
	{"rtt_p50_us", compare.P50},
	{"rtt_p95_us", compare.P95},
	{"rtt_p99_us", compare.P99},
	{"rtt_p999_us", compare.P999},
	{"cpu_percent", compare.CPU},
	{"cpu_us_per_roundtrip", compare.CPUPerTrip},
	{"peak_rss_bytes", compare.PeakRSS},
	{"messages_per_read", compare.MessagesPerRead},
	{"rtt_sent_p50_us", compare.SentP50},
	{"rtt_sent_p99_us", compare.SentP99},
	{"slip_p50_us", compare.SlipP50},
	{"slip_p99_us", compare.SlipP99},
}

// CSV writes the results for spreadsheets and statistics: a line for each
// record, every attempt and twin included, in the order of writing. Cost is that
// of the server's process or, colocated, of the one there is. What was not
// measured is empty.
func CSV(w io.Writer, all []compare.Results) error {
	out := csv.NewWriter(w)
	head := append([]string{"run_id", "suite", "group", "round", "order", "attempt", "twin", "started_at", "status", "reason"}, axes...)
	for _, f := range figureColumns {
		head = append(head, f.name)
	}
	_ = out.Write(append(head, "errors", "flags")) // Error below tells
	for _, res := range all {
		for i := range res.Records {
			_ = out.Write(csvLine(res.Run.Suite, &res.Records[i]))
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func csvLine(suite string, r *record.Record) []string {
	line := []string{r.RunID, suite, r.Group, strconv.Itoa(r.Round), strconv.Itoa(r.Order), strconv.Itoa(r.Attempt), strconv.FormatBool(r.Twin), r.StartedAt, r.Status, r.Reason}
	for _, axis := range axes {
		line = append(line, r.Cell.Axis(axis))
	}
	for _, f := range figureColumns {
		text := ""
		if v := f.metric.Of(r); v != nil {
			text = strconv.FormatFloat(*v, 'g', -1, 64)
		}
		line = append(line, text)
	}
	var errors int64
	for _, n := range r.Errors {
		errors += n
	}
	return append(line, strconv.FormatInt(errors, 10), strings.Join(r.Validity.Flags, " "))
}
