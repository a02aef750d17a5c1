package sysinfo

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

func (t tree) settings() Settings {
	const (
		clock = "sys/devices/system/clocksource/clocksource0/"
		cpu   = "sys/devices/system/cpu/"
	)
	return Settings{
		FrequencyDriver: t.text(cpu + "cpu0/cpufreq/scaling_driver"),
		Boost:           t.boost(),
		ClockSource:     t.text(clock + "current_clocksource"),
		ClockSources:    strings.Fields(t.text(clock + "available_clocksource")),
		HugePages:       bracketed(t.text("sys/kernel/mm/transparent_hugepage/enabled")),
		Mitigations:     t.mitigations(),
		TimerSlackNanos: t.number("proc/self/timerslack_ns"),
		Sysctl:          t.sysctl(ReceiveBufferMax, SendBufferMax, ListenBacklog, PortRange, TCPReceive, TCPSend),
	}
}

// number is the number that a file holds, nil if it holds none.
func (t tree) number(name string) *int64 {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// boost asks the switch that intel_pstate has, or the one of all others, which
// says the opposite.
func (t tree) boost() *bool {
	const cpu = "sys/devices/system/cpu/"
	if off := t.number(cpu + "intel_pstate/no_turbo"); off != nil {
		on := *off == 0
		return &on
	}
	if boost := t.number(cpu + "cpufreq/boost"); boost != nil {
		on := *boost != 0
		return &on
	}
	return nil
}

// bracketed is the choice that is made in a text such as "always [madvise]".
func bracketed(text string) string {
	for word := range strings.FieldsSeq(text) {
		if choice, ok := strings.CutPrefix(word, "["); ok {
			return strings.TrimSuffix(choice, "]")
		}
	}
	return ""
}

func (t tree) mitigations() map[string]string {
	var found map[string]string
	for _, name := range t.glob("sys/devices/system/cpu/vulnerabilities/*") {
		how, ok := strings.CutPrefix(t.text(name), "Mitigation: ")
		if !ok {
			continue
		}
		if found == nil {
			found = make(map[string]string)
		}
		found[path.Base(name)] = how
	}
	return found
}

// sysctl reads settings that hold numbers. Those that do not are left out.
func (t tree) sysctl(names ...string) map[string][]int64 {
	var found map[string][]int64
	for _, name := range names {
		var numbers []int64
		for word := range strings.FieldsSeq(t.text("proc/sys/" + strings.ReplaceAll(name, ".", "/"))) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				numbers = nil
				break
			}
			numbers = append(numbers, n)
		}
		if numbers == nil {
			continue
		}
		if found == nil {
			found = make(map[string][]int64)
		}
		found[name] = numbers
	}
	return found
}

// siblings are the groups of CPUs that are threads of one core, each group and
// all of them ascending.
func (t tree) siblings() [][]int {
	var groups [][]int
	for _, name := range t.glob("sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list") {
		group := cpuList(t.text(name))
		known := slices.ContainsFunc(groups, func(g []int) bool { return slices.Equal(g, group) })
		if len(group) > 1 && !known {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups, slices.Compare)
	return groups
}

// cpuList reads a list of CPUs as the kernel writes it, "0-2,8"; nil for any
// other text.
func cpuList(text string) []int {
	const most = 1 << 16 // CPUs, far above what any kernel is built for
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || first < 0 || last < first || last > most {
			return nil
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return cpus
}
