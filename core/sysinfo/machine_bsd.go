//go:build darwin || freebsd

package sysinfo

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine describes this machine. It never fails: what cannot be read is
// unknown, with a warning where it is always to be had.
func Machine() Facts {
	f := Facts{Architecture: runtime.GOARCH, CI: ciService(os.Getenv)}
	f.sysctl()
	if runtime.GOOS == "darwin" {
		f.Power = pmset()
	}
	cpus, err := AllowedCPUs()
	f.warn(err)
	f.AllowedCPUs = cpus
	return f
}

// names are the sysctls that hold a fact, which differ between the systems.
var names = map[string]struct{ model, cpu, physical, logical, memory, version, build string }{
	"darwin":  {"hw.model", "machdep.cpu.brand_string", "hw.physicalcpu", "hw.logicalcpu", "hw.memsize", "kern.osproductversion", "kern.osversion"},
	"freebsd": {"", "hw.model", "kern.smp.cores", "hw.ncpu", "hw.physmem", "kern.osrelease", "kern.ident"},
}

func (f *Facts) sysctl() {
	n := names[runtime.GOOS]
	text := func(name string) string {
		if name == "" {
			return ""
		}
		s, err := unix.Sysctl(name)
		if err != nil {
			f.warn(fmt.Errorf("sysctl %s: %w", name, err))
		}
		return strings.TrimSpace(s)
	}
	count := func(name string) *int {
		v, err := unix.SysctlUint32(name)
		if err != nil {
			f.warn(fmt.Errorf("sysctl %s: %w", name, err))
			return nil
		}
		i := int(v)
		return &i
	}
	f.Model, f.CPU = text(n.model), text(n.cpu)
	f.PhysicalCores, f.LogicalCores = count(n.physical), count(n.logical)
	system := map[string]string{"darwin": "macOS", "freebsd": "FreeBSD"}[runtime.GOOS]
	f.OS = fmt.Sprintf("%s %s (%s)", system, text(n.version), text(n.build))
	f.Kernel = text("kern.osrelease")
	if bytes, err := unix.SysctlUint64(n.memory); err != nil {
		f.warn(fmt.Errorf("sysctl %s: %w", n.memory, err))
	} else {
		memory := int64(bytes)
		f.MemoryBytes = &memory
	}
	if guest, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil && guest == 1 {
		f.Hypervisor = "unnamed"
	}
	if guest, err := unix.Sysctl("kern.vm_guest"); err == nil && guest != "none" {
		f.Hypervisor = guest
	}
}

// pmset asks macOS what it runs on.
func pmset() string {
	out, err := exec.Command("pmset", "-g", "batt").Output()
	switch {
	case err != nil:
		return ""
	case strings.Contains(string(out), "AC Power"):
		return "ac"
	case strings.Contains(string(out), "Battery Power"):
		return "battery"
	}
	return ""
}
