package driver

import (
	"fmt"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Command is the command line that measures one contender of a trial again.
func Command(t Trial, c cell.Contender) string {
	s := t.Scenario
	var b strings.Builder
	b.WriteString("netmatrix bench")
	flag := func(name string, value any) { fmt.Fprintf(&b, " --%s %v", name, value) }
	flag("runtime", c.Runtime)
	flag("execution", c.Execution)
	flag("protocol", s.Protocol)
	flag("payload", s.Payload)
	flag("clients", s.Clients)
	flag("window", s.Window)
	flag("io-model", s.IOModel)
	flag("threads", s.Threads)
	flag("work", s.Work)
	flag("pattern", s.Pattern)
	flag("placement", s.Placement)
	flag("load-wait", s.LoadWait)
	flag("address-family", s.AddressFamily)
	flag("warmup", t.Warmup)
	flag("measure", t.Measure)
	flag("seed", t.Seed)
	if s.Rate > 0 {
		flag("rate", s.Rate)
	}
	if t.Gaps != "" {
		flag("gaps", t.Gaps)
	}
	if t.SendBuffer > 0 {
		flag("send-buffer", t.SendBuffer)
	}
	if t.RecvBuffer > 0 {
		flag("receive-buffer", t.RecvBuffer)
	}
	if t.CheckAll {
		flag("check", "all")
	}
	return b.String()
}

// now is the present as records have it.
func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// cpuSource says how CPU time was read, "none" where it cannot be.
func cpuSource() string {
	if s := sysinfo.CPUSource(); s != "" {
		return s
	}
	return "none"
}
