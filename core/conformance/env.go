package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// limit is how long one case may take. It is no measure of speed: a case that
// needs it all hangs.
const limit = 20 * time.Second

// leaveLimit is how long goroutines and descriptors may take to go once all
// groups are closed.
const leaveLimit = 3 * time.Second

// Env is what a case works with: one runtime in one variant, peers of package
// net to try it with, and the book on what it did.
type Env struct {
	T
	Runtime transport.Runtime
	Variant Variant

	ledger   ledger
	ctx      context.Context
	deadline time.Time
	start    time.Time
	faulty   atomic.Bool

	mu     sync.Mutex
	closes []func() // what the case opened: groups, peers
	waits  []func() // for the goroutines beside it
}

// newEnv prepares a case.
func newEnv(t T, v Variant, r transport.Runtime) *Env {
	t.Helper()
	now := time.Now()
	e := &Env{T: t, Runtime: r, Variant: v, ctx: t.Context(), deadline: now.Add(limit), start: now}
	e.settleProcess()
	return e
}

// settleProcess opens and closes a listener of the runtime and one of package
// net, so that what a process sets up once, such as package net's poller, is
// not taken for a leak of the first case.
func (e *Env) settleProcess() {
	e.Helper()
	if ln, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		ln.Close()
	}
	g, err := e.Runtime.Listen(e.config(), func() transport.Session { return (&ledger{}).session(script{}) })
	if err != nil {
		e.Fatalf("listen on a free port: %v", err)
	}
	if err := g.Close(); err != nil {
		e.Fatalf("close a listener nobody dialled: %v", err)
	}
}

// atEnd has what the case opened closed when it ends, the newest first.
func (e *Env) atEnd(close func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closes = append(e.closes, close)
}

// finish closes everything before it waits for anyone: a goroutine beside a
// case that failed would wait for its deadline.
func (e *Env) finish() {
	e.mu.Lock()
	closes, waits := e.closes, e.waits
	e.mu.Unlock()
	for _, close := range slices.Backward(closes) {
		close()
	}
	for _, wait := range waits {
		wait()
	}
}

// audit looks at what was done to the sessions of the case.
func (e *Env) audit() {
	e.Helper()
	if made, closed := e.ledger.made.Load(), e.ledger.closed.Load(); made != closed {
		e.Errorf("%d sessions were handed over and %d got their Close", made, closed)
	}
	for _, f := range e.ledger.Faults() {
		e.Errorf("%s", f)
	}
}

// census counts the goroutines and descriptors of the process. The function it
// returns counts them again: there may be no more.
func (e *Env) census() (compare func()) {
	e.Helper()
	// Goroutines that have done their work are counted until they are gone.
	goroutines := int(e.still(5*time.Millisecond, func() int64 { return int64(runtime.NumGoroutine()) }))
	descriptors := openDescriptors()
	return func() {
		e.Helper()
		e.deadline = time.Now().Add(leaveLimit)
		e.ctx = context.Background() // the case's own ended with it
		if !e.holds(func() bool { return runtime.NumGoroutine() <= goroutines }) {
			e.Errorf("%d goroutines are left, %d were there before:\n%s", runtime.NumGoroutine(), goroutines, stacks())
		}
		if !e.holds(func() bool { return openDescriptors() <= descriptors }) {
			e.Errorf("%d descriptors are left open, %d were before", openDescriptors(), descriptors)
		}
	}
}

func stacks() []byte {
	buf := make([]byte, 16<<10)
	return buf[:runtime.Stack(buf, true)]
}

// Errorf and Fatalf remember that the case has failed.
func (e *Env) Errorf(format string, args ...any) {
	e.T.Helper()
	e.faulty.Store(true)
	e.T.Errorf(format, args...)
}

func (e *Env) Fatalf(format string, args ...any) {
	e.T.Helper()
	e.faulty.Store(true)
	e.T.Fatalf(format, args...)
}

func (e *Env) failed() bool { return e.faulty.Load() }

// clock is the one given to the runtime. It stands an hour off from zero, so
// that a runtime that reads another clock is found out.
func (e *Env) clock() int64 { return int64(time.Since(e.start) + time.Hour) }

// config is that of the variant, on any free port.
func (e *Env) config() transport.Config {
	return transport.Config{
		Network:   "tcp",
		Address:   "127.0.0.1:0",
		Execution: e.Variant.Execution,
		IOModel:   e.Variant.IOModel,
		Threads:   e.Variant.Threads,
		Clock:     e.clock,
	}
}

// busyConfig is config without sleeping, where the runtime can do that.
func (e *Env) busyConfig() transport.Config {
	c := e.config()
	c.Busy = !lacks(e.Runtime.Info(), "load_wait", "busy")
	return c
}

// holds polls cond until it is true; false: the deadline passed first.
func (e *Env) holds(cond func() bool) bool {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-e.ctx.Done():
			return cond()
		case now := <-tick.C:
			if now.After(e.deadline) {
				return cond()
			}
		}
	}
	return true
}

// until fails the case unless cond comes true in time.
func (e *Env) until(cond func() bool, format string, args ...any) {
	e.Helper()
	if !e.holds(cond) {
		e.Fatalf("gave up waiting until "+format, args...)
	}
}

// still waits until count has stood for a while, and returns it.
func (e *Env) still(while time.Duration, count func() int64) int64 {
	e.Helper()
	last, since := count(), e.clock()
	e.until(func() bool {
		now := e.clock()
		if got := count(); got != last {
			last, since = got, now
		}
		return now-since > int64(while)
	}, "a count stands still for %v", while)
	return last
}

// group is an open group that may be closed twice: by the case and at its end.
type group struct {
	transport.Group
	env    *Env
	closed sync.Once
}

// Close closes the group and fails the case when that takes too long.
func (g *group) Close() error {
	g.closed.Do(func() {
		done := make(chan error, 1)
		go func() { done <- g.Group.Close() }()
		select {
		case err := <-done:
			if err != nil {
				g.env.Errorf("close a group: %v", err)
			}
		case <-time.After(limit):
			g.env.Errorf("Group.Close has not returned within %v:\n%s", limit, stacks())
		}
	})
	return nil
}

func (e *Env) opened(g transport.Group) *group {
	o := &group{Group: g, env: e}
	e.atEnd(func() { o.Close() })
	return o
}

// listen opens a listener whose connections each get a session made by make.
func (e *Env) listen(c transport.Config, make func() script) *group {
	e.Helper()
	g, err := e.Runtime.Listen(c, func() transport.Session { return e.ledger.session(make()) })
	if err != nil {
		e.Fatalf("listen on %s %s: %v", c.Network, c.Address, err)
	}
	return e.opened(g)
}

// serve listens in the plain configuration with one script for all sessions.
func (e *Env) serve(s script) *group {
	e.Helper()
	return e.listen(e.config(), func() script { return s })
}

// dial connects one session for each script.
func (e *Env) dial(c transport.Config, addrs []string, scripts ...script) *group {
	e.Helper()
	g, err := e.Runtime.Dial(c, addrs, e.sessions(scripts))
	if err != nil {
		e.Fatalf("dial %v: %v", addrs, err)
	}
	return e.opened(g)
}

func (e *Env) sessions(scripts []script) []transport.Session {
	out := make([]transport.Session, len(scripts))
	for i, s := range scripts {
		out[i] = e.ledger.session(s)
	}
	return out
}

// beside runs f on a goroutine and returns the function that waits for it. An
// error fails the case, unless it comes of the case having closed its peers.
func (e *Env) beside(f func() error) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f(); err != nil && !errors.Is(err, net.ErrClosed) {
			e.Errorf("%v", err)
		}
	}()
	wait = func() { <-done } // f ends by the deadline of its connection
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits = append(e.waits, wait)
	return wait
}

// each runs f for 0 to n-1, side by side, and waits for all.
func (e *Env) each(n int, f func(i int) error) {
	waits := make([]func(), n)
	for i := range n {
		waits[i] = e.beside(func() error {
			if err := f(i); err != nil {
				return fmt.Errorf("peer %d: %w", i, err)
			}
			return nil
		})
	}
	for _, wait := range waits {
		wait()
	}
}

// allClosed waits until every session that was opened had its Close.
func (e *Env) allClosed(sessions int64) {
	e.Helper()
	e.until(func() bool { return e.ledger.closed.Load() >= sessions },
		"%d sessions are closed", sessions)
}

// wantCauses checks what the sessions' Close was given: nil for those that
// ended well, an error for those that did not.
func (e *Env) wantCauses(n int, well bool) {
	e.Helper()
	causes := e.ledger.Causes()
	if len(causes) != n {
		e.Errorf("%d sessions got their Close, want %d", len(causes), n)
	}
	for _, err := range causes {
		if well && err != nil {
			e.Errorf("Close was given %q where the conversation had ended well", err)
		}
		if !well && err == nil {
			e.Errorf("Close was given nil where the conversation had broken")
		}
	}
}
