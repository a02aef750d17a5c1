package sysinfo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadActivity(t *testing.T) {
	const ( // in hundredths: user nice system idle iowait irq softirq steal guest guest_nice
		before = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 10 50 1000 5 1 2 30 100 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n"
		after  = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 150 20 60 1100 15 2 4 40 150 0\ncpu1 100 0 0 200 0 0 0 0 0 0\n"
	)
	const hundredth = 10 * time.Millisecond
	read := func(stat string, cpus ...int) Activity {
		a, err := readActivity(forge(t, map[string]string{"stat": stat}), cpus)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, tt := range []struct {
		cpus []int
		want Activity
	}{
		{nil, Activity{}},
		{[]int{0}, Activity{Busy: 73 * hundredth, Interrupts: 3 * hundredth, Idle: 110 * hundredth, Steal: 10 * hundredth}},
		{[]int{0, 1}, Activity{Busy: 173 * hundredth, Interrupts: 3 * hundredth, Idle: 310 * hundredth, Steal: 10 * hundredth}},
	} {
		got := read(after, tt.cpus...).Since(read(before, tt.cpus...))
		for _, x := range []struct {
			what      string
			got, want time.Duration
		}{{"busy", got.Busy, tt.want.Busy}, {"interrupts", got.Interrupts, tt.want.Interrupts}, {"idle", got.Idle, tt.want.Idle}, {"steal", got.Steal, tt.want.Steal}} {
			if diff := x.got - x.want; diff.Abs() > time.Microsecond { // the seconds are floats
				t.Errorf("CPUs %v: %s %v, want %v", tt.cpus, x.what, x.got, x.want)
			}
		}
	}
	if _, err := readActivity(forge(t, map[string]string{"stat": before}), []int{2}); err == nil || !strings.Contains(err.Error(), "CPU 2") {
		t.Errorf("error %v, want one about CPU 2", err)
	}
	if _, err := readActivity(t.TempDir(), nil); err == nil {
		t.Error("no error without a stat file")
	}
}

func TestReadMemory(t *testing.T) {
	const info = "MemTotal: 100 kB\nMemAvailable: 60 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"
	got, err := readMemory(forge(t, map[string]string{"meminfo": info}))
	if want := (Memory{Available: 60 << 10, SwapUsed: 30 << 10}); err != nil || got != want {
		t.Errorf("memory %+v, %v, want %+v", got, err, want)
	}
	if _, err := readMemory(forge(t, map[string]string{"meminfo": "MemTotal: 100 kB\n"})); err == nil {
		t.Error("no error where the memory available is unknown")
	}
	if _, err := readMemory(t.TempDir()); err == nil {
		t.Error("no error without a meminfo file")
	}
}

func TestProcesses(t *testing.T) {
	list, err := Processes()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p Process) bool { return p.PID == os.Getpid() })
	if i < 0 {
		t.Fatalf("this process is not among the %d", len(list))
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := list[i]
	if own.Parent != os.Getppid() || own.Path != path || !strings.HasPrefix(path, filepath.Join(filepath.Dir(path), own.Name)) {
		t.Errorf("this process is %+v, want parent %d and executable %s", own, os.Getppid(), path)
	}
}

func TestProcessesForged(t *testing.T) {
	stat := func(name string) string {
		return "7 (" + name + ") S 1 7 7 0 -1 0 0 0 0 0 150 50" + strings.Repeat(" 0", 37) + "\n"
	}
	root := forge(t, map[string]string{"7/stat": stat("some name"), "8/status": "ended meanwhile\n"})
	if err := os.Symlink("/bin/some (deleted)", filepath.Join(root, "7", "exe")); err != nil {
		t.Fatal(err)
	}
	list, err := processes(root)
	want := Process{PID: 7, Parent: 1, Name: "some name", Path: "/bin/some", CPU: 2 * time.Second}
	if err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("processes %+v, %v, want only %+v", list, err, want)
	}
}
