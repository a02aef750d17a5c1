package conformance

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

// script is a session put together from functions; those that are nil do
// nothing. With wake it is a Waker.
type script struct {
	open  func(out []byte) ([]byte, error)
	data  func(in, out []byte) ([]byte, error)
	end   func(out []byte) ([]byte, error)
	wake  func(out []byte) ([]byte, int64, error)
	close func(err error)
}

// ledger counts what the runtime did to the sessions of one case.
type ledger struct {
	made, opened, ended, closed atomic.Int64

	mu     sync.Mutex
	causes []error // what each Close was given, in order
	faults []string
}

const keptFaults = 5 // the first ones tell the story

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) < keptFaults {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

// Faults are the first calls that came against the rules, in words.
func (l *ledger) Faults() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.faults...)
}

// Causes are the errors that sessions were closed with so far.
func (l *ledger) Causes() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]error(nil), l.causes...)
}

// watched is a session that holds the runtime to the order of calls: Open
// once and first, nothing after an error or End but Close, Close once, never
// two calls at a time. Every session of every case is one.
type watched struct {
	script script
	ledger *ledger

	inside atomic.Bool // a call is running: catches calls that overlap
	calls  int         // not synchronised on purpose: the race detector catches calls that are not ordered

	opened, over, closed bool
	cause                error // what the session returned last, ErrDone as nil
}

// wakingWatched is a watched session that is a Waker too.
type wakingWatched struct{ *watched }

var (
	_ transport.Session = (*watched)(nil)
	_ transport.Waker   = wakingWatched{}
)

// session makes a watched session of s.
func (l *ledger) session(s script) transport.Session {
	l.made.Add(1)
	w := &watched{script: s, ledger: l}
	if s.wake != nil {
		return wakingWatched{w}
	}
	return w
}

// enter opens a call; the function it returns closes it.
func (w *watched) enter(call string) (leave func()) {
	if !w.inside.CompareAndSwap(false, true) {
		w.ledger.fault("%s was called while another call of the same session ran", call)
	}
	w.calls++
	switch {
	case w.closed:
		w.ledger.fault("%s was called after Close", call)
	case call == "Close":
	case w.over:
		w.ledger.fault("%s was called after the session had ended", call)
	case call == "Open" && w.opened:
		w.ledger.fault("Open was called twice")
	case call != "Open" && !w.opened:
		w.ledger.fault("%s was called before Open", call)
	}
	return func() { w.inside.Store(false) }
}

// result keeps err in mind: after one, only Close may come.
func (w *watched) result(out []byte, err error) ([]byte, error) {
	if err != nil {
		w.over = true
		if !errors.Is(err, transport.ErrDone) {
			w.cause = err
		}
	}
	return out, err
}

func (w *watched) Open(out []byte) ([]byte, error) {
	defer w.enter("Open")()
	w.opened = true
	w.ledger.opened.Add(1)
	if w.script.open == nil {
		return out, nil
	}
	return w.result(w.script.open(out))
}

func (w *watched) Data(in, out []byte) ([]byte, error) {
	defer w.enter("Data")()
	if len(in) == 0 {
		w.ledger.fault("Data was called with no bytes")
	}
	if w.script.data == nil {
		return out, nil
	}
	return w.result(w.script.data(in, out))
}

func (w *watched) End(out []byte) ([]byte, error) {
	defer w.enter("End")()
	w.over = true
	w.ledger.ended.Add(1)
	if w.script.end == nil {
		return out, nil
	}
	return w.result(w.script.end(out))
}

func (w wakingWatched) Wake(out []byte) ([]byte, int64, error) {
	defer w.enter("Wake")()
	out, next, err := w.script.wake(out)
	out, err = w.result(out, err)
	return out, next, err
}

func (w *watched) Close(err error) {
	defer w.enter("Close")()
	w.closed = true
	w.over = true
	if w.cause != nil && !errors.Is(err, w.cause) {
		w.ledger.fault("Close was given %v where the session had returned %v", err, w.cause)
	}
	if w.script.close != nil {
		w.script.close(err)
	}
	w.ledger.mu.Lock()
	w.ledger.causes = append(w.ledger.causes, err)
	w.ledger.mu.Unlock()
	w.ledger.closed.Add(1) // last: who sees the count may read all the rest
}
