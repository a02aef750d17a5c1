package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/doctor"
)

// consult calls doctor in a folder of its own, with a scratch folder that a
// killed run has left.
func consult(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	left := filepath.Join(tmp, "netmatrix-1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	code = run(append([]string{"doctor"}, args...), &out, &talk)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("doctor changes something: %v", err)
	}
	return code, out.String(), talk.String()
}

func TestDoctorText(t *testing.T) {
	code, out, talk := consult(t, "--watch", "20ms")
	if code != exitOK {
		t.Errorf("exit %d, want %d: warnings are no failure without --strict\n%s", code, exitOK, talk)
	}
	for _, want := range []string{"cpus", "netmatrix-1", "10,000 operations take"} {
		if !strings.Contains(out, want) {
			t.Errorf("stdout lacks %q:\n%s", want, out)
		}
	}
	for _, want := range []string{"No matrix.yaml here", "Watching the CPUs for 20ms"} {
		if !strings.Contains(talk, want) {
			t.Errorf("stderr lacks %q:\n%s", want, talk)
		}
	}
}

func TestDoctorJSON(t *testing.T) {
	code, out, talk := consult(t, "--json", "--strict", "--watch", "0")
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	want := exitOK
	if doctor.Count(d.Findings, doctor.Warning) > 0 {
		want = exitFailed
	}
	if code != want {
		t.Errorf("exit %d, want %d\n%s%s", code, want, out, talk)
	}
	if len(d.Findings) == 0 || d.Work.Micros <= 0 || d.Machine.Architecture == "" {
		t.Errorf("%d findings, work %+v, machine %+v", len(d.Findings), d.Work, d.Machine)
	}
	if strings.Contains(talk, "Watching") {
		t.Errorf("stderr says that it watches for no time:\n%s", talk)
	}
}

// TestDoctorStrict asks for more connections than any process may hold.
func TestDoctorStrict(t *testing.T) {
	t.Chdir(t.TempDir())
	suites := "  many: {protocol: tcp, payload: 16, clients: 28000, window: 1}\n"
	var plugins []string
	for i := range 100 {
		plugins = append(plugins, fmt.Sprint("p", i))
	}
	plugins = append(plugins, "coroutine", "rawpoll")
	if err := os.WriteFile("matrix.yaml", []byte(matrixText(plugins, suites)), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[int][]string{exitOK: nil, exitFailed: {"--strict"}} {
		var out, talk bytes.Buffer
		code := run(append([]string{"doctor", "--watch", "0"}, args...), &out, &talk)
		if !strings.Contains(out.String(), "warning  ") {
			t.Skipf("this machine can do everything:\n%s", out.String())
		}
		if code != want {
			t.Errorf("%v: exit %d, want %d\n%s%s", args, code, want, out.String(), talk.String())
		}
	}
}

func TestDoctorMisuse(t *testing.T) {
	for _, args := range [][]string{{"--watch", "-1s"}, {"--watch", "2h"}, {"--file", "absent.yaml"}, {"now"}} {
		if code, out, talk := consult(t, args...); code != exitUsage || out != "" {
			t.Errorf("%v: exit %d, stdout %q, want %d and nothing\n%s", args, code, out, exitUsage, talk)
		}
	}
}
