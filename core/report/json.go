package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// summary is the form of the JSON report.
type summary struct {
	Schema int          `json:"schema"`
	Runs   []string     `json:"runs"`
	Rows   []summaryRow `json:"rows"`
}

// summaryRow is one cell of one suite. Figures are in the units of the record.
type summaryRow struct {
	Suite   string                   `json:"suite"`
	Cell    cell.Cell                `json:"cell"`
	Planned int                      `json:"planned"`
	Status  map[string]int           `json:"status"` // trials, by status
	Figures map[string]summaryFigure `json:"figures"`
	Errors  map[string]int64         `json:"errors"`
	Flags   map[string]int           `json:"flags"` // good trials that carry each
	Reasons []string                 `json:"reasons"`
}

// summaryFigure is the spread over the row's good trials.
type summaryFigure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// JSON writes what the tables of the other formats show: for each row its
// medians and ranges. A figure that no good trial has is left out.
func JSON(w io.Writer, all []compare.Results) error {
	s := summary{Schema: record.Schema, Runs: []string{}, Rows: []summaryRow{}}
	for _, res := range all {
		s.Runs = append(s.Runs, res.Run.RunID)
	}
	for _, r := range compare.Rows(all) {
		row := summaryRow{Suite: r.Run.Suite, Cell: r.Cell, Planned: r.Planned, Status: map[string]int{},
			Figures: map[string]summaryFigure{}, Errors: errorCounts(r), Flags: flagged(r), Reasons: append([]string{}, reasons(r)...)}
		for _, rec := range r.Records {
			row.Status[rec.Status]++
		}
		for _, f := range figureColumns {
			if sp := r.Series(f.metric).Spread(); sp.N > 0 {
				row.Figures[f.name] = summaryFigure{sp.Median, sp.Min, sp.Max, sp.N}
			}
		}
		s.Rows = append(s.Rows, row)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
