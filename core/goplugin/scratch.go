package goplugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	scratchPrefix = "netmatrix-"
	lockName      = "lock"
	// lockless is the age from which a folder without a lock is taken for one
	// whose driver was killed while making it.
	lockless = time.Minute
	// maxDir is the longest folder, in bytes, that leaves room in the 103 bytes
	// of a portable socket path for "/netmatrix-1234567890" and go-plugin's
	// "/plugin-dir1234567890/plugin1234567890".
	maxDir = 103 - 21 - 38
)

// scratch is the folder of one host. Its lock is held by the driver for as long
// as it lives and, being an flock, freed by the kernel however it dies.
type scratch struct {
	dir  string
	lock *os.File
}

func newScratch(parent string) (*scratch, error) {
	parent = scratchParent(parent)
	sweep(parent, time.Now())
	dir, err := os.MkdirTemp(parent, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	lock, err := makeLock(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock scratch folder: %w", err), os.RemoveAll(dir))
	}
	return &scratch{dir, lock}, nil
}

// scratchParent is the folder asked for, by default the one for temporary
// files, unless it is too long.
func scratchParent(parent string) string {
	if parent == "" {
		parent = os.TempDir()
	}
	if len(parent) > maxDir {
		return "/tmp"
	}
	return parent
}

// makeLock makes a lock file that is locked from the moment it has its name.
func makeLock(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, lockName)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, lockName))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// remove deletes the folder, then gives up the lock.
func (s *scratch) remove() error {
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// Leftovers are this user's scratch folders whose driver was killed. The next
// host that is made removes them.
func Leftovers() []string { return leftovers(scratchParent(""), time.Now()) }

func leftovers(parent string, now time.Time) []string {
	var dirs []string
	for _, dir := range scratchFolders(parent) {
		if release, ok := abandoned(dir, now); ok {
			release()
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// sweep removes the leftovers in parent. It is housekeeping: what it cannot
// remove it leaves to the next run.
func sweep(parent string, now time.Time) {
	for _, dir := range scratchFolders(parent) {
		if release, ok := abandoned(dir, now); ok {
			_ = os.RemoveAll(dir)
			release()
		}
	}
}

// scratchFolders are all of this user's, with a driver or without.
func scratchFolders(parent string) []string {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil // making the scratch folder there will say why
	}
	var dirs []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		info, err := e.Info() // of the entry itself: a link is no folder
		if err == nil && info.IsDir() && mine(info) {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	}
	return dirs
}

// abandoned reports whether a scratch folder has lost its driver. If so, its
// lock is held until release.
func abandoned(dir string, now time.Time) (release func(), ok bool) {
	lock, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Lstat(dir)
		return func() {}, err == nil && now.Sub(info.ModTime()) > lockless
	}
	if err != nil {
		return nil, false
	}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = lock.Close()
		return nil, false
	}
	return func() { _ = lock.Close() }, true
}

func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
