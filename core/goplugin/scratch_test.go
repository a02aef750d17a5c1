package goplugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	s, err := newScratch(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), os.FileMode(0o700); got != want {
		t.Errorf("mode = %o, want %o", got, want)
	}
	if err := s.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestScratchPathFitsASocket(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 80))
	s, err := newScratch(long)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.remove() })
	if got, want := filepath.Dir(s.dir), "/tmp"; got != want {
		t.Errorf("scratch folder is in %s, want %s", got, want)
	}
}

func TestSweep(t *testing.T) {
	now := time.Now()
	folder := func(dir, name string, age time.Duration, lock bool) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if lock {
			if err := os.WriteFile(filepath.Join(path, lockName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	dir := shortDir(t)
	live, err := newScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { live.remove() })
	folder(dir, "netmatrix-dead", 0, true)
	folder(dir, "netmatrix-half", 2*lockless, false)
	folder(dir, "netmatrix-young", 0, false)
	folder(dir, "somebody-else", 2*lockless, true)
	if err := os.Symlink("somebody-else", filepath.Join(dir, "netmatrix-link")); err != nil {
		t.Fatal(err)
	}

	want := []string{filepath.Join(dir, "netmatrix-dead"), filepath.Join(dir, "netmatrix-half")}
	for range 2 { // to ask changes nothing
		if got := leftovers(dir, now); !slices.Equal(got, want) {
			t.Errorf("leftovers %v, want %v", got, want)
		}
	}

	sweep(dir, now)

	for path, want := range map[string]bool{
		live.dir:                              true,
		filepath.Join(dir, "netmatrix-dead"):  false,
		filepath.Join(dir, "netmatrix-half"):  false,
		filepath.Join(dir, "netmatrix-young"): true,
		filepath.Join(dir, "somebody-else"):   true,
		filepath.Join(dir, "netmatrix-link"):  true,
	} {
		_, err := os.Lstat(path)
		if got := err == nil; got != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(path), got, want)
		}
	}
}
