package sysinfo

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// Machine describes this machine. It never fails: what cannot be read is
// unknown, with a warning where it is always to be had.
func Machine() Facts {
	f := read("/", os.Getenv)
	cpus, err := AllowedCPUs()
	f.warn(err)
	f.AllowedCPUs = cpus
	return f
}

// read gathers what stands in files under root, which holds proc, sys, etc and
// boot.
func read(root string, env func(string) string) Facts {
	t := tree{os.DirFS(root)}
	f := Facts{
		Architecture: runtime.GOARCH,
		Model:        t.model(),
		OS:           t.os(),
		Kernel:       t.text("proc/sys/kernel/osrelease"),
		Power:        t.power(),
		Governor:     t.governor(),
		CI:           ciService(env),
		Siblings:     t.siblings(),
		Settings:     t.settings(),
	}
	f.IRQTimeAccounting = t.irqTimeAccounting(f.Kernel)
	f.cores(t)
	f.procfs(path.Join(root, "proc"))
	f.hypervisor(t)
	quota, err := t.cpuQuota()
	f.warn(err)
	f.CPUQuota = quota
	return f
}

// procfs adds CPU name, memory and the CPU's word on being virtual.
func (f *Facts) procfs(mount string) {
	proc, err := procfs.NewFS(mount)
	if err != nil {
		f.warn(err)
		return
	}
	if mem, err := proc.Meminfo(); err != nil {
		f.warn(fmt.Errorf("memory: %w", err))
	} else if mem.MemTotalBytes != nil {
		total := int64(*mem.MemTotalBytes)
		f.MemoryBytes = &total
	}
	cpus, err := proc.CPUInfo()
	if err != nil {
		f.warn(fmt.Errorf("CPU: %w", err))
	}
	for _, cpu := range cpus {
		if f.CPU == "" {
			f.CPU = cpu.ModelName
		}
		if slices.Contains(cpu.Flags, "hypervisor") {
			f.Hypervisor = "unnamed"
		}
	}
}

// cores counts the CPUs online, and the cores they share.
func (f *Facts) cores(t tree) {
	type core struct{ socket, id string }
	cores := map[core]bool{}
	topologies := t.glob("sys/devices/system/cpu/cpu[0-9]*/topology")
	for _, dir := range topologies {
		c := core{t.text(dir + "/physical_package_id"), t.text(dir + "/core_id")}
		if c.id != "" {
			cores[c] = true
		}
	}
	if len(topologies) == 0 {
		f.warn(errors.New("cores: no CPU topology in sys/devices/system/cpu"))
		return
	}
	logical := len(topologies)
	f.LogicalCores = &logical
	if physical := len(cores); physical > 0 {
		f.PhysicalCores = &physical
	}
}

// hypervisors are known by the vendor or product that their firmware names.
var hypervisors = []string{"QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Microsoft Corporation Virtual", "Amazon EC2", "Google Compute Engine", "Parallels", "bhyve"}

// hypervisor names what the CPU's flag only hints at.
func (f *Facts) hypervisor(t tree) {
	if kind := t.text("sys/hypervisor/type"); kind != "" {
		f.Hypervisor = kind
		return
	}
	for _, name := range hypervisors {
		if strings.Contains(f.Model, name) {
			f.Hypervisor = name
			return
		}
	}
}

// A tree is the file system that the facts are read from.
type tree struct{ fs fs.FS }

// text is a file's content without surrounding blanks, "" if there is none.
// Device trees end their strings in NUL.
func (t tree) text(name string) string {
	b, err := fs.ReadFile(t.fs, name)
	if err != nil {
		return ""
	}
	return strings.Trim(string(b), " \t\r\n\x00")
}

// gunzip is as text, of a compressed file.
func (t tree) gunzip(name string) string {
	file, err := t.fs.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		return ""
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return ""
	}
	return string(b)
}

func (t tree) glob(pattern string) []string {
	names, err := fs.Glob(t.fs, pattern)
	if err != nil {
		panic(err) // the pattern is malformed, and all are in this file
	}
	return names
}

func (t tree) model() string {
	vendor, product := t.text("sys/class/dmi/id/sys_vendor"), t.text("sys/class/dmi/id/product_name")
	if vendor+product != "" {
		return strings.TrimSpace(vendor + " " + product)
	}
	return t.text("proc/device-tree/model")
}

func (t tree) os() string {
	release := t.text("etc/os-release")
	name := assignment(release, "PRETTY_NAME")
	if name == "" {
		name = assignment(release, "NAME")
	}
	if build := assignment(release, "BUILD_ID"); build != "" && name != "" {
		name += " (" + build + ")"
	}
	return name
}

// assignment returns the unquoted value of key=value in a text of such lines.
func assignment(text, key string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

func (t tree) power() string {
	power := ""
	for _, dir := range t.glob("sys/class/power_supply/*") {
		switch t.text(dir + "/type") {
		case "Mains", "USB":
			if t.text(dir+"/online") == "1" {
				return "ac"
			}
		case "Battery":
			if t.text(dir+"/status") == "Discharging" && t.text(dir+"/scope") != "Device" {
				power = "battery"
			}
		}
	}
	return power
}

func (t tree) governor() string {
	var governors []string
	for _, name := range t.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		if g := t.text(name); g != "" {
			governors = append(governors, g)
		}
	}
	slices.Sort(governors)
	return strings.Join(slices.Compact(governors), ",")
}

var irqTime = regexp.MustCompile(`(?m)^(# )?CONFIG_IRQ_TIME_ACCOUNTING(=y| is not set)$`)

// irqTimeAccounting asks the configuration the kernel was built with, where
// one lies around.
func (t tree) irqTimeAccounting(kernel string) *bool {
	for _, text := range []string{t.gunzip("proc/config.gz"), t.text("boot/config-" + kernel)} {
		if m := irqTime.FindStringSubmatch(text); m != nil {
			on := m[2] == "=y"
			return &on
		}
	}
	return nil
}
