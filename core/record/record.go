// Package record holds what was seen in one trial, as plain data, and the store
// it is kept in: JSON Lines, one record a line, appended and synced. It knows
// nothing of how a trial is run or reported.
package record

import (
	"github.com/netmatrix/netmatrix/core/cell"
)

// Schema is the version of the record's form.
const Schema = 1

// The statuses of a record.
const (
	OK          = "ok"
	Failed      = "failed"      // it could not be measured; Reason says why
	Invalid     = "invalid"     // measured, but something that must hold did not
	Unsupported = "unsupported" // the runtime cannot run this cell
)

// The flags of Validity that a report must heed.
const (
	FlagLoadBound      = "load-bound"     // the load was the limit: its throughput is a lower bound
	FlagOversubscribed = "oversubscribed" // more IO threads than CPUs: says nothing about IO models
	FlagDisturbed      = "disturbed"      // others used the CPUs
	FlagStalled        = "stalled"        // a counted slice passed without an echo
)

// Record is what one trial showed of one contender.
type Record struct {
	Schema    int       `json:"schema"`
	RunID     string    `json:"run_id"`
	Suite     string    `json:"suite,omitempty"`
	Group     string    `json:"group"` // of the trial: records of one trial share it
	Round     int       `json:"round"`
	Order     int       `json:"order"`      // position of the trial in the run, from 1
	Attempt   int       `json:"attempt"`    // from 1
	StartedAt string    `json:"started_at"` // RFC 3339, UTC
	Status    string    `json:"status"`
	Reason    string    `json:"reason,omitempty"`
	Detail    string    `json:"detail,omitempty"` // the end of a failed plugin's stderr; if good at a later attempt, why not before
	Cell      cell.Cell `json:"cell"`
	// Twin: of a second process of the same contender, measured beside the first
	// to see by how much equals differ. It is no row of a report.
	Twin bool `json:"twin,omitempty"`

	Metrics    *Metrics          `json:"metrics,omitempty"`
	Server     *Process          `json:"server,omitempty"`
	Load       *Process          `json:"load,omitempty"`
	Process    *Process          `json:"process,omitempty"` // colocated: both ends
	Errors     map[string]int64  `json:"errors,omitempty"`
	Messages   []string          `json:"first_errors,omitempty"`
	Validity   Validity          `json:"validity"`
	Stack      map[string]string `json:"stack,omitempty"`
	Provenance Provenance        `json:"provenance"`
}

// Metrics are the figures of the counted slices.
type Metrics struct {
	ElapsedSeconds      float64 `json:"elapsed_seconds"` // counted time
	RoundTrips          int64   `json:"roundtrips"`
	RoundTripsPerSecond float64 `json:"roundtrips_per_second"`
	PayloadMiBPerSecond float64 `json:"payload_mib_per_second"`  // both directions
	RTT                 *RTT    `json:"rtt_us,omitempty"`        // nil: no sample
	RTTHistogram        []byte  `json:"rtt_histogram,omitempty"` // HdrHistogram V2, nanoseconds
	OverRange           int64   `json:"over_range,omitempty"`    // RTTs above the histogram's top, clamped
	Slices              []Slice `json:"slices,omitempty"`
	RTTFrom             string  `json:"rtt_from,omitempty"` // where RTT and its histogram begin: FromSent or FromIntended
	*OpenLoop                   // nil: a closed loop
}

// Where an RTT begins.
const (
	FromSent     = "sent"     // the hand-over of the message
	FromIntended = "intended" // open loop: the time at which it was to be sent
)

// OpenLoop is what a trial with a rate has besides. Its RTTs and slips are of
// the round trips that RTT is of: each took its slip and then its RTT from the
// sending.
type OpenLoop struct {
	Gaps             string  `json:"gaps"`               // fixed or exponential
	OfferedPerSecond float64 `json:"offered_per_second"` // messages due, over the whole plan
	Unsent           int64   `json:"unsent"`             // of them, those never sent; over the whole plan
	Blocked          int64   `json:"blocked"`            // of those sent, how many had to wait for a place in the window
	Tardy            int64   `json:"tardy"`              // of those sent in counted slices, how many the load itself sent too late
	RTTSent          *RTT    `json:"rtt_sent_us,omitempty"`
	Slip             *RTT    `json:"slip_us,omitempty"` // from the intended to the actual time of sending
	RTTSentHistogram []byte  `json:"rtt_sent_histogram,omitempty"`
	SlipHistogram    []byte  `json:"slip_histogram,omitempty"`
}

// RTT is a distribution in microseconds. A percentile with fewer than ten
// samples beyond it is nil.
type RTT struct {
	P50   *float64 `json:"p50"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p999"`
	Max   float64  `json:"max"`
	Mean  float64  `json:"mean"`
	Count int64    `json:"count"`
}

// Slice is one counted slice, in nanoseconds since the plan's start.
type Slice struct {
	Start      int64 `json:"start"`
	End        int64 `json:"end"`
	RoundTrips int64 `json:"roundtrips"`
	ServerCPU  int64 `json:"server_cpu"` // -1: not read
	Served     int64 `json:"served"`     // the round trips that ServerCPU paid for
	LoadCPU    int64 `json:"load_cpu"`
	Working    int64 `json:"working"`
}

// Process is the cost of one process over the counted slices.
type Process struct {
	PID                int      `json:"pid"`
	CPUSeconds         *float64 `json:"cpu_seconds"` // nil: not read
	CPUPercent         *float64 `json:"cpu_percent"` // of one CPU
	CPUMicrosPerTrip   *float64 `json:"cpu_us_per_roundtrip"`
	WorkingPercent     *float64 `json:"working_percent,omitempty"` // load: share of time with work in hand
	PeakRSSBytes       *int64   `json:"peak_rss_bytes"`            // high-water mark of the measured window
	Threads            int      `json:"io_threads"`
	SendBufferBytes    int      `json:"send_buffer_bytes,omitempty"`
	ReceiveBufferBytes int      `json:"receive_buffer_bytes,omitempty"`
	TLS                string   `json:"tls,omitempty"`
	MessagesPerRead    *float64 `json:"messages_per_read,omitempty"`
	GCCycles           *int64   `json:"gc_cycles,omitempty"`
	GCPauseNanos       *int64   `json:"gc_pause_nanos,omitempty"`
	AllocsPerTrip      *float64 `json:"allocs_per_roundtrip,omitempty"`
	ContextSwitches    *int64   `json:"context_switches,omitempty"`
}

// Validity says what the figures are good for.
type Validity struct {
	Verdict string   `json:"verdict"` // valid, invalid, none (nothing was measured)
	Flags   []string `json:"flags"`   // oversubscribed, load-bound, …
	Reasons []string `json:"reasons"`
	Others  *Others  `json:"others,omitempty"` // nil: the system does not tell
}

// Others is what nobody of the trial did on its CPUs while it measured, warm-up
// included.
type Others struct {
	CPUPercent   float64 `json:"cpu_percent"`   // of the CPUs, used by other processes
	StealPercent float64 `json:"steal_percent"` // of the CPUs, taken by the hypervisor
	Stretches    int     `json:"stretches"`     // that were looked at
	Over         int     `json:"over"`          // of them, those with too much of either
	Disturbed    bool    `json:"disturbed"`
}

// Provenance is where the figures come from.
type Provenance struct {
	Command      string            `json:"command"` // repeats this trial
	DriverSHA256 string            `json:"driver_sha256"`
	PluginSHA256 string            `json:"plugin_sha256"`
	LoadSHA256   string            `json:"load_sha256"`
	SourceSHA256 string            `json:"source_sha256"`
	GoVersion    string            `json:"go_version"`
	Modules      map[string]string `json:"modules,omitempty"`
	Build        map[string]string `json:"build,omitempty"`
	GOMAXPROCS   int               `json:"gomaxprocs"`
	CPUs         CPUs              `json:"cpus"`
	CPUSource    string            `json:"cpu_source"` // how CPU time was read
	Seed         uint64            `json:"seed"`
	PlanNanos    []int64           `json:"plan_nanos,omitempty"` // warm-up, counted time per contender, settle, slice
}

// CPUs are the CPU sets granted; empty: any.
type CPUs struct {
	Server []int `json:"server"`
	Load   []int `json:"load"`
}
