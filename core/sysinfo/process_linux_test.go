package sysinfo_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// child starts a process that sleeps, or spins, until the test ends.
func child(t *testing.T, script string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// eventually polls until ok or ten seconds have passed.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func processCPU(t *testing.T, pid int) int64 {
	t.Helper()
	nanos, err := sysinfo.ProcessCPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	return nanos
}

func TestProcessCPU(t *testing.T) {
	spinning := child(t, "while :; do :; done")
	start := processCPU(t, spinning)
	eventually(t, "another process's clock advances by 20 ms", func() bool {
		return processCPU(t, spinning)-start > 20_000_000
	})

	// The clock agrees with what the kernel accounts to this process.
	var ru syscall.Rusage
	before := processCPU(t, 0)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		t.Fatal(err)
	}
	after := processCPU(t, os.Getpid())
	usage := ru.Utime.Nano() + ru.Stime.Nano()
	if tick := int64(20_000_000); usage < before-tick || usage > after+tick {
		t.Errorf("rusage says %d ns, the CPU clock %d to %d", usage, before, after)
	}
	if own, err := sysinfo.OwnCPU(); err != nil || own < after {
		t.Errorf("OwnCPU() = %d, %v, want at least %d", own, err, after)
	}
	if sysinfo.CPUSource() == "" {
		t.Error("CPUSource() is empty where the clock can be read")
	}
}

func TestProcessCPUAllocatesNothing(t *testing.T) {
	pid := os.Getpid()
	if got := testing.AllocsPerRun(100, func() { _, _ = sysinfo.ProcessCPU(pid) }); got != 0 {
		t.Errorf("ProcessCPU allocates %g times, want 0: it is read while a trial measures", got)
	}
}

func TestProcessThatIsGone(t *testing.T) {
	cmd := exec.Command("/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if _, err := sysinfo.ProcessCPU(pid); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("ProcessCPU: %v, want EINVAL or ESRCH", err)
	}
	if _, err := sysinfo.PeakRSS(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("PeakRSS: %v, want not exist", err)
	}
	if err := sysinfo.ResetPeakRSS(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ResetPeakRSS: %v, want not exist", err)
	}
	if _, err := sysinfo.ProcessUsage(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ProcessUsage: %v, want not exist", err)
	}
	if _, err := sysinfo.Descriptors(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Descriptors: %v, want not exist", err)
	}
	if _, _, err := sysinfo.OpenFiles(pid); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("OpenFiles: %v, want ESRCH", err)
	}
}

func TestPeakRSSIsOfTheWindow(t *testing.T) {
	const size = 64 << 20
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < size; i += 4096 {
		mem[i] = 1
	}
	peak := func() int64 {
		n, err := sysinfo.PeakRSS(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	high := peak()
	if high < size {
		t.Errorf("PeakRSS() = %d with %d bytes touched", high, size)
	}
	if err := syscall.Munmap(mem); err != nil {
		t.Fatal(err)
	}
	if got := peak(); got < high-(1<<20) { // the kernel counts pages per CPU, in batches
		t.Errorf("PeakRSS() fell from %d to %d without a reset", high, got)
	}
	if err := sysinfo.ResetPeakRSS(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if got := peak(); got > high-size/2 {
		t.Errorf("PeakRSS() = %d after the reset, want well below %d", got, high)
	}
}

func TestProcessUsage(t *testing.T) {
	u, err := sysinfo.ProcessUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if u.RSS < 1<<20 || u.Threads < 2 || u.Voluntary < 1 {
		t.Errorf("usage of this test %+v, want some memory, threads and switches", u)
	}
}

func TestDescriptors(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	list, err := sysinfo.Descriptors(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(list, "/dev/null") || !slices.ContainsFunc(list, func(d string) bool { return strings.HasPrefix(d, "socket:[") }) {
		t.Errorf("descriptors %q, want /dev/null and a socket among them", list)
	}
	f.Close()
	ln.Close()
	if left, err := sysinfo.Descriptors(os.Getpid()); err != nil || len(left) != len(list)-2 {
		t.Errorf("%d descriptors once two are closed, %v, want %d", len(left), err, len(list)-2)
	}
}

func TestLimits(t *testing.T) {
	pid := child(t, "exec sleep 60")
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	soft, hard, err := sysinfo.OpenFiles(0)
	if err != nil || soft != own.Cur || hard != own.Max {
		t.Errorf("OpenFiles(0) = %d, %d, %v, want %d, %d", soft, hard, err, own.Cur, own.Max)
	}
	if soft, hard, err := sysinfo.OpenFiles(pid); err != nil || soft == 0 || hard < soft {
		t.Errorf("OpenFiles of a child = %d, %d, %v", soft, hard, err)
	}
}

func TestAllowedCPUs(t *testing.T) {
	cpus, err := sysinfo.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(cpus), runtime.NumCPU(); got != want {
		t.Errorf("%d CPUs allowed (%v), want %d as the Go runtime saw at start", got, cpus, want)
	}
}
