// Package cell holds the unit of measurement: one value on each axis. It knows
// the axes, their names and their legal values, and nothing of how a cell is
// run.
package cell

import (
	"fmt"
	"slices"
	"strconv"
)

// The values of the axes that have a fixed set of them.
const (
	Callback  = "callback"
	Goroutine = "goroutine"

	Shared  = "shared"
	Sharded = "sharded"

	Stream = "stream"
	Batch  = "batch"

	Split     = "split"
	Colocated = "colocated"

	Busy  = "busy"
	Sleep = "sleep"

	IPv4 = "ipv4"
	IPv6 = "ipv6"
)

// Limits on what a cell may ask for.
const (
	MinPayload        = 16        // bytes: the message header
	MaxPayload        = 16 << 20  // bytes
	MaxDatagram       = 65507     // bytes: the largest udp payload over IPv4
	MaxInFlight       = 256 << 20 // bytes: clients × window × payload
	MaxThreads        = 256
	MaxClients        = 28000 // what one source address and port range allow
	MaxWindow         = 65536
	MaxWork     int64 = 1 << 32
)

// Contender is what is compared: a runtime and an execution.
type Contender struct {
	Runtime   string `json:"runtime"`
	Execution string `json:"execution"`
}

func (c Contender) String() string { return c.Runtime + "/" + c.Execution }

// Cell is one value on each axis. It is comparable, and the JSON names of its
// fields are the names of the axes everywhere.
type Cell struct {
	Runtime       string  `json:"runtime"`
	Execution     string  `json:"execution"`
	IOModel       string  `json:"io_model"`
	Threads       int     `json:"threads"`
	Protocol      string  `json:"protocol"`
	Payload       int     `json:"payload"` // application bytes of a message
	Clients       int     `json:"clients"`
	Window        int     `json:"window"` // most messages in flight on one connection
	Work          int64   `json:"work"`   // operations for each echo
	Pattern       string  `json:"pattern"`
	Placement     string  `json:"placement"`
	Rate          float64 `json:"rate"` // round trips a second offered over all clients; 0: closed loop
	LoadWait      string  `json:"load_wait"`
	AddressFamily string  `json:"address_family"`
}

// Contender is the cell's runtime and execution.
func (c Cell) Contender() Contender { return Contender{c.Runtime, c.Execution} }

// Scenario is the cell without its contender.
func (c Cell) Scenario() Cell {
	c.Runtime, c.Execution = "", ""
	return c
}

// With is the scenario with a contender put in.
func (c Cell) With(k Contender) Cell {
	c.Runtime, c.Execution = k.Runtime, k.Execution
	return c
}

// Canonical returns the one spelling of the cell: one thread is one case,
// recorded as shared × 1, and a colocated load waits as the runtime it shares
// its threads with does.
func (c Cell) Canonical() Cell {
	if c.Threads == 1 {
		c.IOModel = Shared
	}
	if c.Placement == Colocated {
		c.LoadWait = Sleep
	}
	return c
}

// Axis returns the value on an axis as it is written; empty for an unknown one.
func (c Cell) Axis(name string) string {
	switch name {
	case "runtime":
		return c.Runtime
	case "threads":
		return strconv.Itoa(c.Threads)
	case "payload":
		return strconv.Itoa(c.Payload)
	case "clients":
		return strconv.Itoa(c.Clients)
	case "window":
		return strconv.Itoa(c.Window)
	case "work":
		return strconv.FormatInt(c.Work, 10)
	case "rate":
		return strconv.FormatFloat(c.Rate, 'g', -1, 64)
	}
	for _, ch := range choices {
		if ch.axis == name {
			return ch.get(&c)
		}
	}
	return ""
}

// An Error is a value that an axis does not take.
type Error struct {
	Axis string // the axis at fault, a JSON name of Cell
	Msg  string // what is wrong and what would be right
}

func (e *Error) Error() string { return e.Axis + ": " + e.Msg }

// choices lists the legal values of the axes that have a fixed set.
var choices = []struct {
	axis   string
	get    func(*Cell) string
	values []string
}{
	{"execution", func(c *Cell) string { return c.Execution }, []string{Callback, Goroutine}},
	{"io_model", func(c *Cell) string { return c.IOModel }, []string{Shared, Sharded}},
	{"protocol", func(c *Cell) string { return c.Protocol }, []string{"tcp", "udp", "websocket", "tcps", "wss", "http", "https"}},
	{"pattern", func(c *Cell) string { return c.Pattern }, []string{Stream, Batch}},
	{"placement", func(c *Cell) string { return c.Placement }, []string{Split, Colocated}},
	{"load_wait", func(c *Cell) string { return c.LoadWait }, []string{Busy, Sleep}},
	{"address_family", func(c *Cell) string { return c.AddressFamily }, []string{IPv4, IPv6}},
}

// Values lists the legal values of an axis that has a fixed set, nil for others.
func Values(axis string) []string {
	for _, ch := range choices {
		if ch.axis == axis {
			return ch.values
		}
	}
	return nil
}

// Validate reports the first value that is not legal as an *Error. It does not
// know which runtime can do what.
func (c Cell) Validate() error {
	if c.Runtime == "" {
		return &Error{"runtime", "is missing"}
	}
	for _, ch := range choices {
		if got := ch.get(&c); !slices.Contains(ch.values, got) {
			return &Error{ch.axis, fmt.Sprintf("%q is none of %s", got, orList(ch.values))}
		}
	}
	for _, r := range []struct {
		axis       string
		got        int64
		least, top int64
	}{
		{"threads", int64(c.Threads), 1, MaxThreads},
		{"payload", int64(c.Payload), MinPayload, MaxPayload},
		{"clients", int64(c.Clients), 1, MaxClients},
		{"window", int64(c.Window), 1, MaxWindow},
		{"work", c.Work, 0, MaxWork},
	} {
		if r.got < r.least || r.got > r.top {
			return &Error{r.axis, fmt.Sprintf("%d lies outside %d to %d%s", r.got, r.least, r.top, why(r.axis, r.got))}
		}
	}
	if c.Protocol == "udp" && c.Payload > MaxDatagram {
		return &Error{"payload", fmt.Sprintf("%d does not fit a udp datagram, which carries at most %d bytes", c.Payload, MaxDatagram)}
	}
	if c.Pattern == Batch && c.Protocol != "tcp" && c.Protocol != "tcps" {
		return &Error{"pattern", "batch goes with tcp and tcps only, not with " + c.Protocol}
	}
	if !(c.Rate >= 0) || c.Rate > 1e9 {
		return &Error{"rate", fmt.Sprintf("%g lies outside 0 (closed loop) to 1e9 round trips a second", c.Rate)}
	}
	if total := int64(c.Clients) * int64(c.Window) * int64(c.Payload); total > MaxInFlight {
		return &Error{"payload", fmt.Sprintf("%d clients × window %d × %d bytes would keep %d MiB in flight, over the limit of %d MiB",
			c.Clients, c.Window, c.Payload, total>>20, MaxInFlight>>20)}
	}
	return nil
}

func why(axis string, got int64) string {
	if axis == "payload" && got < MinPayload {
		return " (16 bytes are the header that tells messages apart)"
	}
	return ""
}

// String names the cell compactly, for progress lines and errors.
func (c Cell) String() string {
	s := fmt.Sprintf("%s %s %d×%d %s×%d", c.Protocol, Bytes(c.Payload), c.Clients, c.Window, c.IOModel, c.Threads)
	if c.Runtime != "" {
		s = c.Contender().String() + " " + s
	}
	if c.Work > 0 {
		s += fmt.Sprintf(" work %d", c.Work)
	}
	if c.Rate > 0 {
		s += fmt.Sprintf(" %g/s", c.Rate)
	}
	if c.Pattern == Batch {
		s += " batch"
	}
	if c.Placement == Colocated {
		s += " colocated"
	}
	if c.AddressFamily == IPv6 {
		s += " ipv6"
	}
	return s
}

// Bytes spells a byte count the way matrix.yaml accepts it: 64B, 16KiB, 1MiB.
func Bytes(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + "MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + "KiB"
	}
	return strconv.Itoa(n) + "B"
}

func orList(list []string) string {
	s := ""
	for i, x := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			s += " or "
		default:
			s += ", "
		}
		s += x
	}
	return s
}
