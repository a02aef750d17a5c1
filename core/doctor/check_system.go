package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func irqTime(s Subject) Finding {
	switch on := s.Machine.IRQTimeAccounting; {
	case on == nil:
		return untold()
	case *on:
		return ok("kept out of the time of processes")
	}
	return note("charged to the process that is interrupted").
		mend("compare CPU figures with those of like kernels only, or take one with CONFIG_IRQ_TIME_ACCOUNTING=y")
}

// dearClock is a clock reading that takes a system call or worse, nanoseconds.
const dearClock = 150

func clock(s Subject) Finding {
	text := fmt.Sprintf("%.0f ns a reading", s.ClockNanos)
	set := s.Machine.Settings
	if set.ClockSource != "" {
		text += " from " + set.ClockSource
	}
	if s.ClockNanos <= dearClock {
		return ok("%s", text)
	}
	f := warning("%s", text)
	if set.ClockSource != "tsc" && slices.Contains(set.ClockSources, "tsc") {
		return f.mend("take the CPU's own counter:").
			run("echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource")
	}
	return f.mend("measure where the clock can be read without a system call; short round trips look longer here")
}

// defaultSlack is what Linux gives to processes that ask for nothing else.
const defaultSlack = 50_000

func timerSlack(s Subject) Finding {
	slack := s.Machine.Settings.TimerSlackNanos
	switch {
	case slack == nil:
		return untold()
	case *slack > defaultSlack:
		return warning("%d µs, more than the kernel's %d µs", *slack/1000, defaultSlack/1000).
			mend("it comes from whatever started the shell: take another, or set it for this one:").
			run("echo %d | sudo tee /proc/$$/timerslack_ns", defaultSlack)
	}
	return ok("%d µs", *slack/1000)
}

func hugePages(s Subject) Finding {
	switch pages := s.Machine.Settings.HugePages; pages {
	case "":
		return untold()
	case "always":
		return note("always").mend("where peak memory is compared, leave it to the processes:").
			run("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")
	default:
		return ok("%s", pages)
	}
}

// dear are the flaws whose mitigation is paid for by every system call or
// switch of processes; those of the others go unnoticed.
var dear = []string{"meltdown", "spectre_v2", "retbleed", "mds", "tsx_async_abort", "mmio_stale_data", "spec_rstack_overflow"}

func mitigations(s Subject) Finding {
	active := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Machine.Settings.Mitigations)), func(flaw string) bool {
		return !slices.Contains(dear, flaw)
	})
	if len(active) == 0 {
		return ok("none that costs much is known")
	}
	return note("against %s", strings.Join(active, ", ")).
		mend("compare absolute figures with those of machines with the same ones only")
}

func otherRuns(s Subject) Finding {
	if len(s.Runs) == 0 {
		return ok("none")
	}
	names, pids := make([]string, len(s.Runs)), make([]string, len(s.Runs))
	for i, p := range s.Runs {
		names[i] = fmt.Sprintf("%s (process %d)", p.Name, p.PID)
		pids[i] = fmt.Sprint(p.PID)
	}
	return warning("%s", strings.Join(names, ", ")).
		mend("wait until it is done, or end it:").run("kill %s", strings.Join(pids, " "))
}

func scratch(s Subject) Finding {
	if len(s.Leftovers) == 0 {
		return ok("none")
	}
	return note("%s", strings.Join(s.Leftovers, ", ")).mend("the next run removes them")
}

// unsteady is how far the quartiles of the work may lie apart, as a share of
// the median.
const unsteady = 0.1

func work(s Subject) Finding {
	w := s.Work
	text := fmt.Sprintf("10,000 operations take %.2f µs; half of %d runs %.2f to %.2f", w.Micros, w.Runs, w.Low, w.High)
	if w.High-w.Low > unsteady*w.Micros {
		return note("%s", text).mend("something disturbs the CPU or changes its frequency: see the checks above")
	}
	return ok("%s", text)
}
