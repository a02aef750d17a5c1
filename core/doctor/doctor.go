// Package doctor says whether a machine is fit to measure on and what to do
// about it. Look gathers what there is to know; every check is a pure function
// over that. Where facts stand and what an odd value means is core/sysinfo's
// business.
package doctor

import "fmt"

// Level is how much a finding matters.
type Level string

// The levels of findings.
const (
	OK      Level = "ok"
	Note    Level = "note"    // to be kept in mind when figures are read
	Warning Level = "warning" // figures suffer from it
	Skipped Level = "skipped" // it cannot be told on this system
)

// Finding is what one check has to say.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Found   string `json:"found"`
	Why     string `json:"why"`               // it matters
	Mend    string `json:"mend,omitempty"`    // what to do, in words
	Command string `json:"command,omitempty"` // one line that does it, or what to write where Mend says
}

// check is a question with the reason to ask it.
type check struct {
	name, why string
	examine   func(Subject) Finding
}

// checks are all there are, in the order of the report.
var checks = []check{
	{"cpus", "server and load that share a CPU take time from each other", cpus},
	{"siblings", "two threads of one core slow each other down", siblings},
	{"cpu quota", "a control group that is over its quota is stopped for up to 100 ms", quota},
	{"hypervisor", "what the host takes away looks like a slow server", hypervisor},
	{"other load", "what others do on the CPUs looks like a slow server", otherLoad},
	{"governor", "a frequency that follows the load differs from trial to trial", governor},
	{"boost", "frequency above the nominal one depends on heat and on other cores", boost},
	{"power", "on battery the CPUs are slowed down", power},
	{"memory", "a process that waits for memory waits for the disk", memory},
	{"open files", "a process without a file left for a connection fails its trial", openFiles},
	{"ports", "every connection of the load takes a port", ports},
	{"socket buffers", "datagrams that find the buffer full are lost", socketBuffers},
	{"tcp buffers", "a window that the buffers do not hold is never all in flight", tcpBuffers},
	{"backlog", "a connection that finds the queue full is tried again after 1 s", backlog},
	{"irq time", "CPU time of interrupts moves the cost of a round trip by up to a third", irqTime},
	{"clock", "every message costs the load two clock readings", clock},
	{"timer slack", "a load that sleeps until its next message wakes up late by that much", timerSlack},
	{"huge pages", "memory given out by 2 MiB shows in the peak memory of a process", hugePages},
	{"mitigations", "each makes system calls dearer, so that figures differ from those elsewhere", mitigations},
	{"other runs", "runs side by side measure each other", otherRuns},
	{"scratch", "folders of runs that were killed take up room", scratch},
	{"work", "the unit of the work axis: figures with work compare only where it is the same", work},
}

// Examine asks every check about s.
func Examine(s Subject) []Finding {
	findings := make([]Finding, len(checks))
	for i, c := range checks {
		findings[i] = c.examine(s)
		findings[i].Check, findings[i].Why = c.name, c.why
	}
	return findings
}

// Count is how many findings are of a level.
func Count(findings []Finding, l Level) int {
	n := 0
	for _, f := range findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

func found(l Level, format string, args ...any) Finding {
	return Finding{Level: l, Found: fmt.Sprintf(format, args...)}
}

func ok(format string, args ...any) Finding      { return found(OK, format, args...) }
func note(format string, args ...any) Finding    { return found(Note, format, args...) }
func warning(format string, args ...any) Finding { return found(Warning, format, args...) }
func untold() Finding                            { return found(Skipped, "this system does not tell") }

// mend adds what to do about a finding.
func (f Finding) mend(format string, args ...any) Finding {
	f.Mend = fmt.Sprintf(format, args...)
	return f
}

// run adds the command line that mends.
func (f Finding) run(format string, args ...any) Finding {
	f.Command = fmt.Sprintf(format, args...)
	return f
}
