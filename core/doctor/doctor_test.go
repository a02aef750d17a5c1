package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// fit is a machine without fault: four cores, nothing else running.
func fit() Subject {
	off, on, slack := false, true, int64(50_000)
	return Subject{
		Machine: sysinfo.Facts{
			AllowedCPUs: []int{0, 1, 2, 3}, Governor: "performance", Power: "ac", IRQTimeAccounting: &on,
			Settings: sysinfo.Settings{
				Boost: &off, ClockSource: "tsc", ClockSources: []string{"tsc", "hpet"},
				HugePages: "madvise", TimerSlackNanos: &slack,
				Sysctl: map[string][]int64{
					sysinfo.ReceiveBufferMax: {8 << 20}, sysinfo.SendBufferMax: {8 << 20},
					sysinfo.TCPReceive: {4096, 131072, 6 << 20}, sysinfo.TCPSend: {4096, 16384, 4 << 20},
					sysinfo.ListenBacklog: {4096}, sysinfo.PortRange: {32768, 60999},
				},
			},
		},
		Placement: true,
		Demand: Demand{
			Clients: 1000, Connections: 2000, Buffer: DatagramBuffer, InFlight: 1 << 20,
			Server: []int{0, 1}, Load: []int{2, 3},
		},
		Watch:      &Watch{For: 3 * time.Second, Others: 0.01},
		Memory:     &sysinfo.Memory{Available: 8 << 30},
		Files:      Files{Soft: 4096, Hard: 4096},
		ClockNanos: 25,
		Work:       Calibration{Micros: 10, Low: 9.9, High: 10.1, Runs: 300},
	}
}

func TestFitMachine(t *testing.T) {
	for _, f := range Examine(fit()) {
		if f.Level != OK || f.Mend != "" || f.Command != "" {
			t.Errorf("%+v, want ok and nothing to mend", f)
		}
		if f.Found == "" || f.Why == "" {
			t.Errorf("%+v, want what was found and why it matters", f)
		}
	}
}

// conditions are what can be wrong with a machine.
var conditions = []struct {
	check string
	spoil func(*Subject)
	level Level
	found string // part of it
	mends string // part of what to do, in words or as a command
}{
	{"cpus", func(s *Subject) { s.Machine.AllowedCPUs = []int{5} }, Warning, "one CPU", "two CPUs"},
	{"cpus", func(s *Subject) { s.Demand.Load = []int{1, 2} }, Warning, "both run on CPU 1", "cpus: auto"},
	{"cpus", func(s *Subject) { s.Demand.Server, s.Demand.Load = nil, nil }, Note, "4 CPUs", "cpus: auto"},
	{"cpus", func(s *Subject) { s.Placement = false }, Note, "binds no process", "quiet"},
	{"cpus", func(s *Subject) { s.Machine.AllowedCPUs = nil }, Skipped, "", ""},
	{"siblings", func(s *Subject) { s.Machine.Siblings = [][]int{{0, 2}, {1, 3}} }, Warning,
		"CPUs 0,2 and 1,3", "cpus: {server: [0, 2], load: [1, 3]}"},
	{"siblings", func(s *Subject) {
		s.Machine.AllowedCPUs, s.Machine.Siblings = []int{0, 1}, [][]int{{0, 1}}
		s.Demand.Server, s.Demand.Load = []int{0}, []int{1}
	}, Warning, "CPUs 0-1", "one core only"},
	{"siblings", func(s *Subject) { s.Machine.Siblings = [][]int{{0, 1}, {2, 3}} }, OK, "no core", ""},
	{"siblings", func(s *Subject) { s.Machine.Hypervisor = "KVM" }, OK, "may hide", ""},
	{"cpu quota", func(s *Subject) { s.Machine.CPUQuota = new(1.5) }, Warning, "1.5 of its 4", "taskset -c 0 "},
	{"cpu quota", func(s *Subject) { s.Machine.CPUQuota = new(8.0) }, Note, "8 CPUs, and there are 4", ""},
	{"hypervisor", func(s *Subject) { s.Machine.Hypervisor = "KVM" }, Note, "KVM; it took 0.0 %", "one run only"},
	{"hypervisor", func(s *Subject) { s.Machine.Hypervisor, s.Watch = "KVM", nil }, Note, "hypervisor KVM", "one run only"},
	{"hypervisor", func(s *Subject) { s.Watch.Steal = 0.05 }, Warning, "unnamed; it took 5.0 %", "quieter"},
	{"other load", func(s *Subject) {
		s.Watch.Others = 0.25
		s.Watch.Busiest = []Use{{sysinfo.Process{PID: 812, Name: "burn"}, 0.98}}
	}, Warning, "25.0 % of the CPUs in 3.0 s: burn (process 812) 98.0 % of one", "end what can be ended"},
	{"other load", func(s *Subject) { s.Watch = nil }, Skipped, "", ""},
	{"governor", func(s *Subject) { s.Machine.Governor = "performance,powersave" }, Warning, "powersave", "cpupower frequency-set -g performance"},
	{"governor", func(s *Subject) { s.Machine.Governor = "" }, Skipped, "", ""},
	{"boost", func(s *Subject) { s.Machine.Settings.Boost = new(true) }, Note, "on", "cpufreq/boost"},
	{"boost", func(s *Subject) {
		s.Machine.Settings.Boost, s.Machine.Settings.FrequencyDriver = new(true), "intel_pstate"
	}, Note, "on", "no_turbo"},
	{"boost", func(s *Subject) { s.Machine.Settings.Boost = nil }, Skipped, "", ""},
	{"power", func(s *Subject) { s.Machine.Power = "battery" }, Warning, "battery", "plug it in"},
	{"power", func(s *Subject) { s.Machine.Power = "" }, OK, "no battery", ""},
	{"memory", func(s *Subject) { s.Memory.Available = 100 << 20 }, Warning, "100 MiB left", "ps -eo"},
	{"memory", func(s *Subject) { s.Memory.SwapUsed = 10 << 20 }, Note, "10 MiB are swapped out", "swapoff"},
	{"memory", func(s *Subject) { s.Memory = nil }, Skipped, "", ""},
	{"open files", func(s *Subject) { s.Files = Files{1024, 2063} }, Warning, "needs 2064", "--nofile=2064:2064"},
	{"open files", func(s *Subject) { s.Files.Soft = 2063 }, Note, "2063 a process, 4096 at most", "ulimit -S -n 2064"},
	{"open files", func(s *Subject) { s.Files = Files{2064, 1<<64 - 1} }, OK, "any number at most", ""},
	{"open files", func(s *Subject) { s.Files = Files{} }, Skipped, "", ""},
	{"ports", func(s *Subject) { s.Demand.Clients = 28233 }, Warning, "28232, and the largest trial has 28233", "ip_local_port_range="},
	{"ports", func(s *Subject) { s.Demand.Clients = 20000 }, Note, "more than half", "ip_local_port_range="},
	{"ports", func(s *Subject) { s.Machine.Settings.Sysctl[sysinfo.PortRange] = []int64{1} }, Skipped, "", ""},
	{"socket buffers", func(s *Subject) { s.Machine.Settings.Sysctl[sysinfo.SendBufferMax] = []int64{212992} }, Warning,
		"at most 208KiB, and the matrix wants 4MiB", "net.core.rmem_max=4194304 net.core.wmem_max=4194304"},
	{"socket buffers", func(s *Subject) {
		s.Machine.Settings.Sysctl[sysinfo.ReceiveBufferMax], s.Demand.Buffer = []int64{212992}, 0
	}, Note, "the matrix has none", "net.core.rmem_max=4194304"},
	{"socket buffers", func(s *Subject) { s.Demand.Buffer = 0 }, OK, "leaves them to the kernel", ""},
	{"socket buffers", func(s *Subject) { s.Machine.Settings.Sysctl = nil }, Skipped, "", ""},
	{"tcp buffers", func(s *Subject) { s.Demand.InFlight = 16 << 20 }, Warning, "a window is up to 16MiB",
		"net.ipv4.tcp_rmem='4096 131072 16777216' net.ipv4.tcp_wmem='4096 16384 16777216'"},
	{"tcp buffers", func(s *Subject) { s.Machine.Settings.Sysctl = nil }, Skipped, "", ""},
	{"backlog", func(s *Subject) { s.Machine.Settings.Sysctl[sysinfo.ListenBacklog] = []int64{128} }, Warning, "128 connections", "somaxconn=1000"},
	{"backlog", func(s *Subject) { s.Machine.Settings.Sysctl = nil }, Skipped, "", ""},
	{"irq time", func(s *Subject) { s.Machine.IRQTimeAccounting = new(false) }, Note, "charged", "CONFIG_IRQ_TIME_ACCOUNTING=y"},
	{"irq time", func(s *Subject) { s.Machine.IRQTimeAccounting = nil }, Skipped, "", ""},
	{"clock", func(s *Subject) { s.ClockNanos, s.Machine.Settings.ClockSource = 900, "hpet" }, Warning, "900 ns a reading from hpet", "echo tsc"},
	{"clock", func(s *Subject) { s.ClockNanos, s.Machine.Settings = 900, sysinfo.Settings{} }, Warning, "900 ns a reading", "without a system call"},
	{"timer slack", func(s *Subject) { s.Machine.Settings.TimerSlackNanos = new(int64(40_000_000)) }, Warning, "40000 µs", "timerslack_ns"},
	{"timer slack", func(s *Subject) { s.Machine.Settings.TimerSlackNanos = nil }, Skipped, "", ""},
	{"huge pages", func(s *Subject) { s.Machine.Settings.HugePages = "always" }, Note, "always", "echo madvise"},
	{"huge pages", func(s *Subject) { s.Machine.Settings.HugePages = "" }, Skipped, "", ""},
	{"mitigations", func(s *Subject) {
		s.Machine.Settings.Mitigations = map[string]string{"retbleed": "IBPB", "spectre_v1": "barriers", "meltdown": "PTI"}
	}, Note, "against meltdown, retbleed", "same ones"},
	{"other runs", func(s *Subject) {
		s.Runs = []sysinfo.Process{{PID: 81, Name: "netmatrix"}, {PID: 82, Name: "rawpoll"}}
	}, Warning, "netmatrix (process 81), rawpoll (process 82)", "kill 81 82"},
	{"scratch", func(s *Subject) { s.Leftovers = []string{"/tmp/netmatrix-1"} }, Note, "/tmp/netmatrix-1", "next run"},
	{"work", func(s *Subject) { s.Work.High = 12 }, Note, "10.00 µs; half of 300 runs 9.90 to 12.00", "frequency"},
}

func TestConditions(t *testing.T) {
	for _, tt := range conditions {
		s := fit()
		tt.spoil(&s)
		findings := Examine(s)
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.Check == tt.check })
		if i < 0 {
			t.Fatalf("no check is called %q", tt.check)
		}
		f := findings[i]
		if f.Level != tt.level || !strings.Contains(f.Found, tt.found) {
			t.Errorf("%s: %s, %q, want %s, %q", tt.check, f.Level, f.Found, tt.level, tt.found)
		}
		if mends := f.Mend + " " + f.Command; !strings.Contains(mends, tt.mends) || (mends == " ") != (tt.mends == "") {
			t.Errorf("%s: to do %q, want %q", tt.check, mends, tt.mends)
		}
	}
}

// TestEveryCheckIsSpoilt: a check that no condition makes speak is not tested.
func TestEveryCheckIsSpoilt(t *testing.T) {
	spoken := make(map[string]bool)
	for _, tt := range conditions {
		if tt.level == Note || tt.level == Warning {
			spoken[tt.check] = true
		}
	}
	seen := make(map[string]bool)
	for _, c := range checks {
		if seen[c.name] {
			t.Errorf("two checks are called %q", c.name)
		}
		seen[c.name] = true
		if !spoken[c.name] {
			t.Errorf("no condition makes %q speak", c.name)
		}
	}
}

func TestNothingKnown(t *testing.T) {
	for _, f := range Examine(Subject{}) {
		if f.Level == Warning || f.Level == Note {
			t.Errorf("%+v of a machine nothing is known of", f)
		}
	}
}

func TestCount(t *testing.T) {
	s := fit()
	s.Machine.Power = "battery"
	s.ClockNanos = 1000
	if got := Count(Examine(s), Warning); got != 2 {
		t.Errorf("%d warnings, want 2", got)
	}
}

func TestWholeCores(t *testing.T) {
	for _, tt := range []struct {
		allowed      []int
		siblings     [][]int
		server, load []int
	}{
		{[]int{0, 1, 2, 3}, nil, []int{0, 1}, []int{2, 3}},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, []int{0, 4, 1, 5}, []int{2, 6, 3, 7}},
		{[]int{0, 1, 4}, [][]int{{0, 4}, {1, 5}}, []int{0, 4}, []int{1}},
		{[]int{0, 4}, [][]int{{0, 4}}, []int{0, 4}, nil},
	} {
		server, load := wholeCores(tt.allowed, tt.siblings)
		if !slices.Equal(server, tt.server) || !slices.Equal(load, tt.load) {
			t.Errorf("of %v with %v: %v and %v, want %v and %v", tt.allowed, tt.siblings, server, load, tt.server, tt.load)
		}
	}
}
