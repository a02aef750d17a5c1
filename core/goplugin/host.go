package goplugin

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

var errClosed = errors.New("the host is closed")

// Host starts plugin processes and sees to it that none outlives it. A driver
// makes one for its run. Its methods may be called from any goroutine.
type Host struct {
	scratch *scratch
	starter *starter

	mu       sync.Mutex
	closed   bool
	children map[*child]struct{} // alive

	close func() error
}

// NewHost makes a scratch folder in dir (empty: the system's folder for
// temporary files; /tmp where the path would be too long for a unix socket) and
// removes what killed runs of this user have left there.
func NewHost(dir string) (*Host, error) {
	s, err := newScratch(dir)
	if err != nil {
		return nil, err
	}
	st, err := newStarter()
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	h := &Host{scratch: s, starter: st, children: map[*child]struct{}{}}
	h.close = sync.OnceValue(h.shutdown)
	return h, nil
}

// Scratch is the host's folder, readable by this user only and gone after
// Close. It is the plugins' TMPDIR too.
func (h *Host) Scratch() string { return h.scratch.dir }

// Close kills every process left and removes the scratch folder.
func (h *Host) Close() error { return h.close() }

func (h *Host) shutdown() error {
	h.mu.Lock()
	h.closed = true
	left := make([]*child, 0, len(h.children))
	for c := range h.children {
		c.signal()
		left = append(left, c)
	}
	h.mu.Unlock()
	for _, c := range left {
		c.kill()
	}
	h.starter.stop()
	if err := h.scratch.remove(); err != nil {
		return fmt.Errorf("remove scratch folder: %w", err)
	}
	return nil
}

// usable is errClosed once Close has been called. spawn decides for good; to ask
// before a start gives a closed host's error in place of a missing folder's.
func (h *Host) usable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosed
	}
	return nil
}

// spawn starts a process that Close will find.
func (h *Host) spawn(c Command, env []string) (*child, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	ch, err := spawn(h.starter, c, append(h.environment(c), env...), h.forget)
	if err != nil {
		return nil, err
	}
	h.children[ch] = struct{}{}
	return ch, nil
}

func (h *Host) forget(c *child) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.children, c)
}

// environment is what a plugin inherits. A GOGC or GODEBUG in the driver's
// shell must not change what is measured.
func (h *Host) environment(c Command) []string {
	var env []string
	for _, key := range []string{"PATH", "HOME", "LANG"} {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	env = append(env, "TMPDIR="+h.scratch.dir)
	if c.GOMAXPROCS > 0 {
		env = append(env, fmt.Sprintf("GOMAXPROCS=%d", c.GOMAXPROCS))
	}
	return slices.Clip(env)
}
