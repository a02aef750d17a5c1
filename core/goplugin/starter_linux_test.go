package goplugin

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPlacement(t *testing.T) {
	home, err := currentAffinity()
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for cpu := range len(home) * 64 {
		if home.IsSet(cpu) {
			last = cpu
		}
	}
	h := newHost(t)
	path := executable(t, "good")
	affinityOf := func(cpus ...int) unix.CPUSet {
		t.Helper()
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(start(t, h, Command{Name: "good", Path: path, CPUs: cpus}).PID(), &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	var want unix.CPUSet
	want.Set(last)
	if got := affinityOf(last); got != want {
		t.Errorf("affinity = %x, want only cpu %d", got[:1], last)
	}
	if got := affinityOf(); got != home {
		t.Errorf("affinity of the next start = %x, want the driver's own %x", got[:1], home[:1])
	}
}

func TestPlacementRefused(t *testing.T) {
	h := newHost(t)
	for _, cpu := range []int{-1, 1023, 100000} {
		_, err := h.Start(t.Context(), Command{Name: "good", Path: executable(t, "good"), CPUs: []int{0, cpu}})
		if err == nil || !strings.Contains(err.Error(), "is not among the") {
			t.Errorf("Start on cpu %d = %v, want it refused", cpu, err)
		}
	}
}

// The parent-death signal alone ends a plugin that watches no lifeline.
func TestKilledDriverTakesTheDeaf(t *testing.T) {
	dir := shortDir(t)
	cmd := driver(t, "host", dir, "mute")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	listens := func() bool {
		sockets, _ := filepath.Glob(filepath.Join(dir, scratchPrefix+"*", "plugin-dir*", "s"))
		if len(sockets) == 0 {
			return false
		}
		conn, err := net.Dial("unix", sockets[0])
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	eventually(t, "the plugin listens", listens)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the plugin is gone", func() bool { return !listens() })
}
