package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{nil, {"other"}, {"asio", "-pairs", "0"}, {"pingpong", "-nonsense"}, {"pingpong", "rest"}} {
		var stdout, stderr strings.Builder
		if got := run(args, &stdout, &stderr); got != 2 || stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("run(%q) = %d with %q on stdout and %q on stderr, want 2 and words on stderr only", args, got, &stdout, &stderr)
		}
	}
}

// Whoever goes first, a ratio is ours to theirs.
func TestPairsAlternate(t *testing.T) {
	var order []string
	play := func(name string, figure float64) side {
		return func(context.Context) (float64, error) {
			order = append(order, name)
			return figure, nil
		}
	}
	got, err := contest{ours: play("ours", 3), theirs: play("theirs", 2)}.ratios(t.Context(), 3)
	if want := []float64{1.5, 1.5, 1.5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("ratios %v, error %v; want %v", got, err, want)
	}
	if want := []string{"ours", "theirs", "theirs", "ours", "ours", "theirs"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
	broken := errors.New("broken")
	_, err = contest{ours: play("ours", 3), theirs: func(context.Context) (float64, error) { return 0, broken }}.ratios(t.Context(), 3)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestPingPong plays one short pair of each game. What a ratio comes to here
// means nothing.
func TestPingPong(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it builds a plugin, and the program in C is for Linux")
	}
	dir := t.TempDir()
	program, plugin := filepath.Join(dir, "pingpong"), filepath.Join(dir, "rawpoll")
	for _, build := range [][]string{
		{"gcc", "-O2", "pingpong/pingpong.c", "-o", program},
		{"go", "build", "-o", plugin, "../plugins/rawpoll"},
	} {
		if _, err := exec.LookPath(build[0]); err != nil {
			t.Skipf("no peer in C: %v", err)
		}
		if out, err := exec.CommandContext(t.Context(), build[0], build[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", build, err, out)
		}
	}
	var stdout, stderr strings.Builder
	if status := run([]string{"pingpong", "-peer", program, "-plugin", plugin, "-pairs", "1", "-measure", "500ms"}, &stdout, &stderr); status != 0 {
		for _, unfit := range []string{"two CPUs are needed", "the CPUs must be free"} {
			if strings.Contains(stderr.String(), unfit) {
				t.Skip(stderr.String())
			}
		}
		t.Fatalf("exit status %d\n%s%s", status, &stdout, &stderr)
	}
	for _, game := range []string{"tcp busy", "tcp sleep", "udp busy", "udp sleep"} {
		if !strings.Contains(stdout.String(), "\n"+game+" ") {
			t.Errorf("no line for %s:\n%s", game, &stdout)
		}
	}
}
