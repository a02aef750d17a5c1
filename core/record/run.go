package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Run is what holds for all trials of a run: what was asked, in which order,
// on which machine, with which plugins. It is written before the first trial.
type Run struct {
	Schema    int    `json:"schema"`
	RunID     string `json:"run_id"`
	StartedAt string `json:"started_at"` // RFC 3339, UTC
	Command   string `json:"command"`    // repeats the run
	Suite     string `json:"suite"`
	Contrast  string `json:"contrast"` // the axis whose values are compared
	Primary   string `json:"primary"`  // the field of a record that verdicts are about
	// Baseline is the contender that ratios refer to.
	Baseline cell.Contender `json:"baseline"`
	// Delta is by how much a ratio may differ from 1 and count as equal; 0: the
	// default.
	Delta        float64       `json:"delta,omitempty"`
	Seed         uint64        `json:"seed"`
	Rounds       int           `json:"rounds"`
	WarmupNanos  int64         `json:"warmup_nanos"`  // for each contender of a trial
	MeasureNanos int64         `json:"measure_nanos"` // likewise, counted time
	Matrix       string        `json:"matrix"`        // source text of matrix.yaml
	Schedule     []Trial       `json:"schedule"`      // in the order of running
	Environment  sysinfo.Facts `json:"environment"`
	WorkMicros   float64       `json:"work_us_per_10000"` // what 10,000 operations of work take on this machine, median, µs
	Plugins      []Plugin      `json:"plugins"`
	CPUs         CPUs          `json:"cpus"` // sets granted to server and load
}

// Trial is one entry of the schedule. It leaves one record for each contender,
// and one for the twin; more when it was disturbed and measured again.
type Trial struct {
	Order      int              `json:"order"` // from 1
	Round      int              `json:"round"` // from 1
	Group      string           `json:"group"`
	Scenario   cell.Cell        `json:"scenario"`
	Contenders []cell.Contender `json:"contenders"`
	Twin       cell.Contender   `json:"twin,omitzero"` // whose twin takes part, if any does
}

// Plugin is an executable that took part.
type Plugin struct {
	Name      string            `json:"name"`
	Path      string            `json:"path"`
	SHA256    string            `json:"sha256"`
	Version   string            `json:"version"`
	GoVersion string            `json:"go_version,omitempty"`
	Modules   map[string]string `json:"modules,omitempty"`
}

// Planned is how many records a complete run has.
func (r *Run) Planned() int {
	n := 0
	for _, t := range r.Schedule {
		n += len(t.Contenders)
		if t.Twin != (cell.Contender{}) {
			n++
		}
	}
	return n
}

// ReadRun reads the run.json of a results folder.
func ReadRun(dir string) (*Run, error) {
	path := filepath.Join(dir, runFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("no run in %s: %w", dir, err)
	}
	var r Run
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if err := checkSchema(r.Schema); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// WriteRun writes run.json, replacing the one before in one step.
func (s *Store) WriteRun(r *Run) error {
	path := filepath.Join(s.dir, runFile)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, nameNonFinite(err, r))
	}
	return WriteFile(path, append(data, '\n'))
}

func checkSchema(got int) error {
	if got != Schema {
		return fmt.Errorf("schema %d, want %d: it was written by another version of netmatrix", got, Schema)
	}
	return nil
}
