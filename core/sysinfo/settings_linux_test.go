package sysinfo

import (
	"os"
	"reflect"
	"testing"
)

func TestReadSettings(t *testing.T) {
	const (
		cpu   = "sys/devices/system/cpu/"
		clock = "sys/devices/system/clocksource/clocksource0/"
	)
	f := read(forge(t, map[string]string{
		cpu + "cpu0/cpufreq/scaling_driver":                "acpi-cpufreq\n",
		cpu + "cpufreq/boost":                              "1\n",
		cpu + "vulnerabilities/meltdown":                   "Mitigation: PTI\n",
		cpu + "vulnerabilities/l1tf":                       "Not affected\n",
		cpu + "vulnerabilities/spec_store_bypass":          "Vulnerable\n",
		clock + "current_clocksource":                      "hpet\n",
		clock + "available_clocksource":                    "tsc hpet acpi_pm \n",
		"sys/kernel/mm/transparent_hugepage/enabled":       "always [madvise] never\n",
		"proc/self/timerslack_ns":                          "50000\n",
		"proc/sys/net/core/rmem_max":                       "212992\n",
		"proc/sys/net/core/somaxconn":                      "many\n",
		"proc/sys/net/ipv4/ip_local_port_range":            "32768\t60999\n",
		"proc/sys/net/ipv4/tcp_wmem":                       "4096\t16384\t4194304\n",
		cpu + "cpu10/topology/thread_siblings_list":        "2,10\n",
		cpu + "cpu2/topology/thread_siblings_list":         "2,10\n",
		cpu + "cpu0/topology/thread_siblings_list":         "0-1\n",
		cpu + "cpu1/topology/thread_siblings_list":         "0-1\n",
		cpu + "cpu3/topology/thread_siblings_list":         "3\n",
		cpu + "cpu4/topology/thread_siblings_list":         "4-\n",
		cpu + "cpuidle/topology/thread_siblings_list":      "7,8\n",
		"proc/sys/net/ipv4/ip_local_port_range_unrelated":  "1 2\n",
		"sys/kernel/mm/transparent_hugepage/shmem_enabled": "[always]\n",
	}), noEnv)
	on, slack := true, int64(50000)
	want := Settings{
		FrequencyDriver: "acpi-cpufreq", Boost: &on,
		ClockSource: "hpet", ClockSources: []string{"tsc", "hpet", "acpi_pm"},
		HugePages: "madvise", Mitigations: map[string]string{"meltdown": "PTI"},
		TimerSlackNanos: &slack,
		Sysctl: map[string][]int64{
			ReceiveBufferMax: {212992}, PortRange: {32768, 60999}, TCPSend: {4096, 16384, 4194304},
		},
	}
	if !reflect.DeepEqual(f.Settings, want) {
		t.Errorf("settings\n%+v, want\n%+v", f.Settings, want)
	}
	if want := [][]int{{0, 1}, {2, 10}}; !reflect.DeepEqual(f.Siblings, want) {
		t.Errorf("siblings %v, want %v", f.Siblings, want)
	}
}

func TestReadSettingsWithNothingToRead(t *testing.T) {
	got := tree{os.DirFS(t.TempDir())}.settings()
	got.ClockSources = nil // an empty list will do
	if want := (Settings{}); !reflect.DeepEqual(got, want) {
		t.Errorf("settings %+v, want none", got)
	}
}

func TestBoost(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  any
	}{
		{"no switch", nil, nil},
		{"boost on", map[string]string{cpu + "cpufreq/boost": "1\n"}, true},
		{"boost off", map[string]string{cpu + "cpufreq/boost": "0\n"}, false},
		{"turbo on", map[string]string{cpu + "intel_pstate/no_turbo": "0\n"}, true},
		{"turbo off", map[string]string{cpu + "intel_pstate/no_turbo": "1\n"}, false},
	} {
		if got := deref(read(forge(t, tt.files), noEnv).Settings.Boost); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCPUList(t *testing.T) {
	for text, want := range map[string][]int{
		"0":              {0},
		"0-2,8":          {0, 1, 2, 8},
		"10,2":           {2, 10},
		"":               nil,
		"a":              nil,
		"3-1":            nil,
		"-1":             nil,
		"0,":             nil,
		"0-999999999999": nil,
	} {
		if got := cpuList(text); !reflect.DeepEqual(got, want) {
			t.Errorf("cpuList(%q) = %v, want %v", text, got, want)
		}
	}
}
