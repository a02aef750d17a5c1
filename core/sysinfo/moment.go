package sysinfo

import "time"

// Activity is what some CPUs have done since the machine started, added up.
type Activity struct {
	Busy       time.Duration // running processes, the kernel and interrupts
	Interrupts time.Duration // of that, hard and soft interrupts
	Idle       time.Duration
	Steal      time.Duration // wanted to run, but the hypervisor ran something else
}

// Since is what was done from one reading to a later one.
func (a Activity) Since(before Activity) Activity {
	return Activity{a.Busy - before.Busy, a.Interrupts - before.Interrupts, a.Idle - before.Idle, a.Steal - before.Steal}
}

// Memory is what is left of memory, in bytes.
type Memory struct {
	Available int64 // without swapping
	SwapUsed  int64
}

// A Process is one that runs on this machine.
type Process struct {
	PID, Parent int
	Name        string        // as the kernel keeps it, 15 bytes at most
	Path        string        // of its executable; empty for processes of other users
	CPU         time.Duration // used since its start, all threads
}
