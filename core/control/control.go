// Package control is the control-plane contract between the driver and a
// plugin, in Go types. It carries control and never a payload byte.
//
// All times are int64 nanoseconds and all durations are taken within one
// process: no instant crosses from one to another.
package control

import (
	"context"
	"errors"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/transport"
)

// ContractVersion is the version of this contract. A plugin built for another
// is refused at the handshake.
const ContractVersion = 1

// Errors that keep their identity across the process boundary.
var (
	// ErrUnsupported: the plugin cannot run this cell; the text says why.
	ErrUnsupported = errors.New("unsupported")
	// ErrPluginGone: the plugin's process ended or its connection broke.
	ErrPluginGone = errors.New("plugin gone")
)

// ServerName is the name that the certificate of a server bears.
const ServerName = "localhost"

// The roles of a plugin process.
const (
	RoleServer = "server" // the runtime under test
	RoleLoad   = "load"   // the load that talks to it
	RoleBoth   = "both"   // both ends on the same IO threads (colocated)
)

// The gaps between the messages that an open loop offers.
const (
	GapsFixed       = "fixed"       // all alike
	GapsExponential = "exponential" // as of independent users
)

// Plugin is what a transport plugin does for the driver. One call runs at a
// time, each with a deadline after which the driver kills the process. The
// order is Describe, Prepare, Inspect, Measure, Inspect, Stop; a plugin may be
// stopped after any of them.
type Plugin interface {
	Describe(context.Context) (Description, error)
	// Prepare makes the plugin ready for one cell. Role server: listen. Role
	// load: dial everything and see one checked exchange on each connection.
	// Role both: both. A cell the plugin cannot run is ErrUnsupported.
	Prepare(context.Context, Setup) (Ready, error)
	// Inspect reads counters. It is called only while no traffic flows.
	Inspect(context.Context) (Counters, error)
	// Measure (roles load and both) follows the plan. All traffic starts and
	// ends inside the call, and no other call is made while it runs.
	Measure(context.Context, []Slice) (Result, error)
	// Stop closes every socket and ends every goroutine that Prepare started.
	Stop(context.Context) error
}

// Description is what a plugin says of itself.
type Description struct {
	Info      transport.Info
	Roles     []string
	Protocols []string
	Stack     map[string]string // layer → module@version: event_loop, tls, http, websocket
	GoVersion string            // empty for a plugin in another language
	Source    string            // hash of the source it was built from; "unknown" where it cannot tell
}

// Setup is one cell for one process.
type Setup struct {
	Role     string
	Cell     cell.Cell
	Threads  int    // IO threads of this process
	IOModel  string // IO model of this process
	Send     int    // socket send buffer to ask for, bytes; 0: the kernel's own, or what datagrams need
	Receive  int    // socket receive buffer, likewise
	CA       []byte // PEM; tls protocols only, as are Cert and Key
	Cert     []byte
	Key      []byte
	Targets  []Target // role load: whom to talk to
	Gaps     string   // between the messages of an open loop: GapsFixed (default) or GapsExponential
	Seed     uint64   // of message bodies, of the choice of checked echoes and of exponential gaps
	CheckAll bool     // check the whole body of every echo, not of 1 in 64
	Busy     bool     // the load polls without sleeping
	// LossAfter is when an unanswered datagram counts as lost; DrainFor is how
	// long Measure waits for what is in flight once sending has stopped.
	LossAfter, DrainFor int64
}

// Target is one server that a load talks to.
type Target struct {
	Name  string
	Addrs []string
	PID   int // whose CPU clock the load reads; 0: none
}

// Ready is what Prepare achieved.
type Ready struct {
	Addrs   []string // role server: where it listens
	Send    int      // socket send buffer granted, bytes, as the kernel reports it; 0: unknown
	Receive int      // socket receive buffer, likewise
	TLS     string   // negotiated version, cipher and curve; empty without tls
}

// Slice is a stretch of the plan on one target. The plan is contiguous.
type Slice struct {
	Target  int   // index into Setup.Targets; 0 in role both
	Length  int64 // whole length, Settle included
	Settle  int64 // dropped at its start
	Counted bool  // false: warm-up
}

// Result is what Measure saw.
type Result struct {
	Slices  []Sample // one for each slice of the plan, in order
	Targets []Tally  // one for each target
}

// Sample is what the load saw of one slice. A round trip belongs to the slice
// in which its echo arrived.
type Sample struct {
	Start, End int64 // counted window on the load's clock, from the start of the plan
	RoundTrips int64 // echoes of this slice's target that arrived within the window
	RTTSum     int64 // nanoseconds, over RoundTrips
	// ServerCPU is what the target's process used, and Served the round trips
	// it used it for. With one target these are the counted window's. With
	// several they reach from the idle moment before the slice to the idle
	// moment after it, settling and draining included, since the clock of
	// another process is exact only while that process is idle. -1: not read.
	ServerCPU, Served int64
	LoadCPU           int64 // nanoseconds of CPU of the load's process within the window
	Working           int64 // time its IO threads had work in hand; -1: unknown
}

// Tally is what the load saw of one target over the whole plan.
type Tally struct {
	RTT         []byte // HdrHistogram V2 (compressed) of the counted slices, nanoseconds
	Intended    []byte // open loop: of the same round trips, from the intended time of sending
	Slip        []byte // open loop: of the same, from the intended to the actual time of sending
	MaxRTT      int64  // exact, of the counted slices; open loop: of Intended
	Counts      map[string]int64
	FirstErrors []string // the first five, in words
}

// The keys of Tally.Counts.
const (
	CountSent        = "sent"        // messages handed over for sending
	CountReceived    = "received"    // echoes that answered a message in flight, right or wrong
	CountContent     = "content"     // echoes with a wrong header, body or work result
	CountOrder       = "order"       // echoes out of order on a stream
	CountLost        = "lost"        // datagrams not answered within LossAfter
	CountLate        = "late"        // echoes of datagrams already counted as lost
	CountDuplicate   = "duplicate"   // echoes of datagrams already answered
	CountDisconnects = "disconnects" // connections that ended before the plan did
	CountUnfinished  = "unfinished"  // messages still unanswered after the drain
	CountOverRange   = "over_range"  // RTTs above the histogram's top, clamped
	CountReads       = "reads"       // Data calls: messages per read = received ÷ reads

	// Open loop only. Offered, over the whole plan, is sent and unsent.
	CountUnsent  = "unsent"  // messages that were due and found no place in the window in time
	CountBlocked = "blocked" // messages sent that had to wait for a place in the window
	CountTardy   = "tardy"   // messages sent late in counted slices though they had a place: the load's fault
)

// Counters are a plugin's own counts since its start; -1 where it cannot tell.
type Counters struct {
	Accepted int64 // server: connections accepted; -1 with datagrams, which have none
	Live     int64 // connections open now
	Messages int64 // server: messages answered
	Reads    int64 // server: Data calls
	GCCycles int64
	GCNanos  int64 // total stop-the-world pause
	Allocs   int64 // heap objects allocated
	Switches int64 // context switches of the process, voluntary and not
	// Goroutines alive now; a plugin in another language counts what holds a
	// connection there, if anything does.
	Goroutines int64
}
