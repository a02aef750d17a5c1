package sysinfo

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// forge writes a file system of the named files and returns its root.
func forge(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func noEnv(string) string { return "" }

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// cpuinfo is of two logical CPUs of one core, in the form of x86.
const cpuinfo = `processor	: 0
vendor_id	: AuthenticAMD
model name	: AMD EPYC
flags		: fpu sse2 hypervisor

processor	: 1
vendor_id	: AuthenticAMD
model name	: AMD EPYC
flags		: fpu sse2 hypervisor
`

func TestReadMachine(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	var config bytes.Buffer
	z := gzip.NewWriter(&config)
	if _, err := z.Write([]byte("CONFIG_HZ=250\nCONFIG_IRQ_TIME_ACCOUNTING=y\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	root := forge(t, map[string]string{
		"proc/cpuinfo":                             cpuinfo,
		"proc/meminfo":                             "MemTotal:        1024 kB\nMemFree:  1 kB\n",
		"proc/sys/kernel/osrelease":                "6.18.44\n",
		"proc/config.gz":                           config.String(),
		"proc/self/cgroup":                         "0::/a/b\n",
		"sys/fs/cgroup/a/cpu.max":                  "150000 100000\n",
		"sys/fs/cgroup/a/b/cpu.max":                "max 100000\n",
		"sys/class/dmi/id/sys_vendor":              "QEMU\n",
		"sys/class/dmi/id/product_name":            "Standard PC\n",
		"sys/class/power_supply/BAT0/type":         "Battery\n",
		"sys/class/power_supply/BAT0/status":       "Discharging\n",
		cpu + "cpu0/topology/physical_package_id":  "0\n",
		cpu + "cpu0/topology/core_id":              "0\n",
		cpu + "cpu1/topology/physical_package_id":  "0\n",
		cpu + "cpu1/topology/core_id":              "0\n",
		cpu + "cpu2/topology/physical_package_id":  "1\n",
		cpu + "cpu2/topology/core_id":              "0\n",
		cpu + "cpufreq/boost":                      "1\n",
		cpu + "cpu0/cpufreq/scaling_governor":      "powersave\n",
		cpu + "cpu1/cpufreq/scaling_governor":      "performance\n",
		cpu + "cpu2/cpufreq/scaling_governor":      "performance\n",
		"etc/os-release":                           "NAME=Debian\nPRETTY_NAME=\"Debian 12\"\nBUILD_ID='rolling'\n",
		"sys/class/power_supply/hid-mouse/type":    "Battery\n",
		"sys/class/power_supply/hid-mouse/scope":   "Device\n",
		"sys/class/power_supply/hid-mouse/status":  "Discharging\n",
		"sys/devices/system/cpu/cpuidle/unrelated": "",
	})
	f := read(root, func(name string) string { return map[string]string{"CI": "true", "GITHUB_ACTIONS": "true"}[name] })

	for _, tt := range []struct {
		fact      string
		got, want any
	}{
		{"model", f.Model, "QEMU Standard PC"},
		{"architecture", f.Architecture, runtime.GOARCH},
		{"physical cores", deref(f.PhysicalCores), 2},
		{"logical cores", deref(f.LogicalCores), 3},
		{"memory", deref(f.MemoryBytes), int64(1 << 20)},
		{"os", f.OS, "Debian 12 (rolling)"},
		{"kernel", f.Kernel, "6.18.44"},
		{"power", f.Power, "battery"},
		{"governor", f.Governor, "performance,powersave"},
		{"hypervisor", f.Hypervisor, "QEMU"},
		{"ci", f.CI, "github actions"},
		{"cpu quota", deref(f.CPUQuota), 1.5},
		{"irq time accounting", deref(f.IRQTimeAccounting), true},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %v, want %v", tt.fact, tt.got, tt.want)
		}
	}
	if runtime.GOARCH == "amd64" && f.CPU != "AMD EPYC" {
		t.Errorf("cpu = %q, want AMD EPYC", f.CPU)
	}
	if len(f.Warnings) > 0 && runtime.GOARCH == "amd64" {
		t.Errorf("warnings %q, want none", f.Warnings)
	}
}

func TestReadMachineWithNothingToRead(t *testing.T) {
	f := read(t.TempDir(), noEnv)
	if f.PhysicalCores != nil || f.LogicalCores != nil || f.MemoryBytes != nil || f.CPUQuota != nil || f.IRQTimeAccounting != nil {
		t.Errorf("facts %+v, want nil for what is unknown", f)
	}
	if len(f.Warnings) != 3 { // cores, proc, cgroup
		t.Errorf("%d warnings %q, want 3", len(f.Warnings), f.Warnings)
	}
}

func TestMachineHere(t *testing.T) {
	f := Machine()
	if f.Architecture != runtime.GOARCH || f.Kernel == "" || f.MemoryBytes == nil || f.LogicalCores == nil || len(f.AllowedCPUs) == 0 {
		t.Errorf("facts of this machine lack the basics: %+v", f)
	}
}

func TestCPUQuota(t *testing.T) {
	const v1 = "4:memory:/m\n1:cpu,cpuacct:/a\n0::/\n"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		want   any
		warned string // part of the error, "" for none
	}{
		{"no limit", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, nil, ""},
		{"half a CPU", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5, ""},
		{"the tighter parent counts", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "1 2", "sys/fs/cgroup/a/b/cpu.max": "4 2"}, 0.5, ""},
		{"path of the host", map[string]string{"proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2.0, ""},
		{"path above the root", map[string]string{"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2.0, ""},
		{"quota 0", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "0 100000\n"}, nil, "above 0"},
		{"period 0", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 0\n"}, nil, "above 0"},
		{"no period", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000\n"}, nil, "period"},
		{"garbage", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "a b\n"}, nil, "cpu.max"},
		{"empty", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": ""}, nil, ""},
		{"no limit file", map[string]string{"proc/self/cgroup": "0::/\n"}, nil, ""},
		{"no cgroup file", nil, nil, "cgroup"},
		{"odd cgroup file", map[string]string{"proc/self/cgroup": "\n0:\nx\n:::\n"}, nil, ""},
		{"v1", map[string]string{"proc/self/cgroup": v1, "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "300000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 3.0, ""},
		{"v1 without a limit", map[string]string{"proc/self/cgroup": v1, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n"}, nil, ""},
		{"v1 quota 0", map[string]string{"proc/self/cgroup": v1, "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "0\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "0\n"}, nil, "above 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tree{os.DirFS(forge(t, tt.files))}.cpuQuota()
			if deref(got) != tt.want {
				t.Errorf("quota %v, want %v", deref(got), tt.want)
			}
			if (err == nil) != (tt.warned == "") || err != nil && !strings.Contains(err.Error(), tt.warned) {
				t.Errorf("error %v, want one about %q", err, tt.warned)
			}
		})
	}
}

func TestHypervisorAndModel(t *testing.T) {
	for _, tt := range []struct {
		name, model, hypervisor string
		files                   map[string]string
	}{
		{"hardware", "Framework Laptop", "", map[string]string{"sys/class/dmi/id/sys_vendor": "Framework\n", "sys/class/dmi/id/product_name": "Laptop\n"}},
		{"xen", "", "xen", map[string]string{"sys/hypervisor/type": "xen\n"}},
		{"board", "Raspberry Pi 5", "", map[string]string{"proc/device-tree/model": "Raspberry Pi 5\x00"}},
	} {
		f := read(forge(t, tt.files), noEnv)
		if f.Model != tt.model || f.Hypervisor != tt.hypervisor {
			t.Errorf("%s: model %q, hypervisor %q, want %q, %q", tt.name, f.Model, f.Hypervisor, tt.model, tt.hypervisor)
		}
	}
}

func TestIRQTimeAccounting(t *testing.T) {
	for text, want := range map[string]any{
		"# CONFIG_IRQ_TIME_ACCOUNTING is not set\n": false,
		"CONFIG_IRQ_TIME_ACCOUNTING=y\n":            true,
		"CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\n":       nil,
	} {
		root := forge(t, map[string]string{"boot/config-1.2": text, "proc/sys/kernel/osrelease": "1.2\n", "proc/config.gz": "not gzip"})
		if got := deref(read(root, noEnv).IRQTimeAccounting); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
