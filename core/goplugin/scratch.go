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
	if parent == "" {
		parent = os.TempDir()
	}
	if len(parent) > maxDir {
		parent = "/tmp"
	}
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

// sweep removes the scratch folders in parent that have lost their driver. It
// is housekeeping: what it cannot remove it leaves to the next run.
func sweep(parent string, now time.Time) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making the scratch folder there will say why
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		info, err := e.Info() // of the entry itself: a link is no folder
		if err != nil || !info.IsDir() || !mine(info) {
			continue
		}
		sweepFolder(filepath.Join(parent, e.Name()), now.Sub(info.ModTime()))
	}
}

func sweepFolder(dir string, age time.Duration) {
	lock, err := os.Open(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if age > lockless {
			_ = os.RemoveAll(dir)
		}
		return
	case err != nil:
		return
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.RemoveAll(dir)
	}
}

func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
