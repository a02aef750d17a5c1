package goplugin

import (
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
