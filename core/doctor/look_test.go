package doctor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/doctor"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

func TestLookHere(t *testing.T) {
	machine := sysinfo.Machine()
	s, err := doctor.Look(t.Context(), machine, doctor.Reference(machine.AllowedCPUs), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.ClockNanos <= 0 || s.Files.Hard == 0 || s.Files.Soft > s.Files.Hard {
		t.Errorf("clock %g ns, files %+v", s.ClockNanos, s.Files)
	}
	if w := s.Work; w.Runs < 100 || w.Low <= 0 || w.Low > w.Micros || w.Micros > w.High {
		t.Errorf("work %+v, want quartiles in order", w)
	}
	if runtime.GOOS == "linux" && (s.Watch == nil || s.Watch.For < 20*time.Millisecond || s.Memory == nil) {
		t.Errorf("watch %+v, memory %+v, want both on linux", s.Watch, s.Memory)
	}
	for _, f := range doctor.Examine(s) {
		if f.Level == "" || f.Found == "" {
			t.Errorf("%s says nothing: %+v", f.Check, f)
		}
	}
}

// TestLookFindsOtherRuns has a plugin of the matrix run: this system's sleep.
func TestLookFindsOtherRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not list processes")
	}
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep here")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := doctor.Look(t.Context(), sysinfo.Facts{}, doctor.Demand{Plugins: []string{path, self}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	has := func(pid int) bool {
		return slices.ContainsFunc(s.Runs, func(p sysinfo.Process) bool { return p.PID == pid })
	}
	if !has(cmd.Process.Pid) || has(os.Getpid()) {
		t.Errorf("other runs %+v, want process %d and not this one, %d", s.Runs, cmd.Process.Pid, os.Getpid())
	}
}

// TestCalibrateLeavesThreadsAlone: also the first one, on which a process's CPUs
// are read.
func TestCalibrateLeavesThreadsAlone(t *testing.T) {
	before, err := sysinfo.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if c := doctor.Calibrate([]int{1 << 12}); c.Micros <= 0 {
		t.Errorf("on a CPU that is not there: %+v, want a figure from any", c)
	}
	// Enough at once to take every idle thread.
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if c := doctor.Calibrate(before[:1]); c.Micros <= 0 {
				t.Errorf("on CPU %d: %+v", before[0], c)
			}
		})
	}
	wg.Wait()
	if after, err := sysinfo.AllowedCPUs(); err != nil || !slices.Equal(before, after) {
		t.Errorf("CPUs %v, %v afterwards, want %v", after, err, before)
	}
}
