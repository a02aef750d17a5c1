package conformance

import (
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

var wakeCases = []Case{
	{Name: "WakeAfterOpen", Rule: "calls Wake once after Open and sends what it returns", Run: wakesAfterOpen},
	{Name: "WakeAsked", Rule: "calls Wake after Group.Wake, from many goroutines, and only then", Run: wakesAsked},
	{Name: "WakeAtNext", Rule: "calls Wake when the clock has reached next, never early", Run: wakesAtNext},
	{Name: "WakeBusy", Rule: "keeps to the same rules when it never sleeps", Run: wakesBusy},
	{Name: "WakeReplaced", Rule: "forgets the time before when Wake returns another", Run: replacesNext, Waits: true},
	{Name: "WakeDue", Rule: "lets others have their turns beside a session that is always due", Run: staysFairWhenDue},
	{Name: "WakeOverdue", Rule: "hands input to a session that is always due", Run: readsWhenOverdue},
	{Name: "Serial", Rule: "makes the calls of a session one after the other, whoever causes them", Run: isSerial},
}

func wakesAfterOpen(e *Env) {
	hello := text(1, 1000)
	var wakes atomic.Int64
	s := script{
		data: echo.data,
		wake: func(out []byte) ([]byte, int64, error) {
			wakes.Add(1)
			return append(out, hello...), 0, nil
		},
	}
	g := e.serve(s)
	c := e.peer(g.Addrs()[0])
	if err := expect(c, hello); err != nil {
		e.Fatalf("what Wake returned: %v", err)
	}
	for i := range 50 { // traffic is no reason to wake
		if err := exchange(c, text(uint64(i), 100)); err != nil {
			e.Fatalf("%v", err)
		}
	}
	if got := wakes.Load(); got != 1 {
		e.Errorf("Wake was called %d times on a listening end that asked for no time, want 1", got)
	}
	addr := e.accept(1, func(_ int, c *net.TCPConn) error {
		return expect(c, hello)
	})
	e.dial(e.config(), []string{addr}, s)
	e.until(func() bool { return wakes.Load() == 2 }, "a dialled end is woken after Open")
}

func wakesAsked(e *Env) {
	const callers, calls, conns = 8, 100, 4
	var wakes [conns]atomic.Int64
	var asked atomic.Int64 // Group.Wake calls begun
	g := e.serve(echo)
	scripts := make([]script, conns)
	for i := range scripts {
		scripts[i] = script{wake: func(out []byte) ([]byte, int64, error) {
			wakes[i].Add(1)
			return out, 0, nil
		}}
	}
	d := e.dial(e.config(), g.Addrs(), scripts...)
	all := func(n int64) func() bool {
		return func() bool {
			for i := range wakes {
				if wakes[i].Load() < n {
					return false
				}
			}
			return true
		}
	}
	e.until(all(1), "every session is woken after Open")
	for n := range int64(3) {
		d.Wake()
		asked.Add(1)
		e.until(all(n+2), "every session is woken after call %d of Group.Wake", n+1)
	}
	e.each(callers, func(int) error {
		for range calls {
			d.Wake()
			asked.Add(1)
		}
		return nil
	})
	var before [conns]int64
	for i := range wakes {
		before[i] = wakes[i].Load()
	}
	d.Wake() // however the calls before were merged, this one is not lost
	asked.Add(1)
	e.until(func() bool {
		for i := range wakes {
			if wakes[i].Load() <= before[i] {
				return false
			}
		}
		return true
	}, "every session is woken after the last Group.Wake")
	e.pass(20)
	for i := range wakes {
		if got, most := wakes[i].Load(), 1+asked.Load(); got > most {
			e.Errorf("session %d was woken %d times, asked for %d times", i, got, most)
		}
	}
}

// timed is a Waker that asks for n times, gap apart, and notes how early or
// late it was called.
type timed struct {
	e        *Env
	gap      int64
	n        int
	next     int64
	earliest int64
	done     atomic.Bool
}

func (w *timed) script() script {
	return script{data: echo.data, wake: w.wake}
}

func (w *timed) wake(out []byte) ([]byte, int64, error) {
	now := w.e.clock()
	if w.next != 0 {
		w.earliest = min(w.earliest, now-w.next)
		w.n--
	}
	if w.n == 0 {
		w.next = 0
		w.done.Store(true)
		return out, 0, nil
	}
	w.next = now + w.gap
	return out, w.next, nil
}

func wakesAtNext(e *Env) { wakesInTime(e, e.config()) }

func wakesBusy(e *Env) { wakesInTime(e, e.busyConfig()) }

// wakesInTime mixes gaps below and above what timers can do, with traffic in
// between that must not bring a Wake forward.
func wakesInTime(e *Env, c transport.Config) {
	gaps := []time.Duration{1, 10 * time.Microsecond, 300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond}
	g := e.serve(echo)
	timers := make([]*timed, 2*len(gaps))
	scripts := make([]script, len(timers))
	for i := range timers {
		timers[i] = &timed{e: e, gap: int64(gaps[i/2]), n: 10}
		scripts[i] = timers[i].script()
		if i%2 == 1 { // this one has traffic without end
			scripts[i].open = func(out []byte) ([]byte, error) { return append(out, '.'), nil }
		}
	}
	d := e.dial(c, g.Addrs(), scripts...)
	for i, w := range timers {
		e.until(w.done.Load, "session %d was woken %d times, %v apart", i, 10, gaps[i/2])
	}
	d.Close()
	for i, w := range timers {
		if w.earliest < 0 {
			e.Errorf("session %d was woken %v early", i, time.Duration(-w.earliest))
		}
	}
}

func replacesNext(e *Env) {
	const far = int64(time.Hour)
	var wakes, early atomic.Int64
	var next int64
	g := e.serve(echo)
	d := e.dial(e.config(), g.Addrs(), script{wake: func(out []byte) ([]byte, int64, error) {
		now := e.clock()
		switch wakes.Add(1) {
		case 1: // after Open: a time that comes soon, to be replaced
			next = now + int64(200*time.Millisecond)
		case 2: // asked: a time that does not come
			next = now + far
		default:
			early.Add(1)
		}
		return out, next, nil
	}})
	e.until(func() bool { return wakes.Load() == 1 }, "the session is woken after Open")
	d.Wake()
	e.until(func() bool { return wakes.Load() == 2 }, "the session is woken when asked")
	end := e.clock() + int64(250*time.Millisecond)
	e.until(func() bool { return e.clock() > end }, "the replaced time has passed")
	e.pass(20)
	if early.Load() != 0 {
		e.Errorf("Wake was called at a time that another had replaced")
	}
}

func staysFairWhenDue(e *Env) {
	g := e.serve(echo)
	scripts := make([]script, 2*e.Variant.Threads)
	var wakes atomic.Int64
	for i := range scripts {
		scripts[i].wake = func(out []byte) ([]byte, int64, error) {
			wakes.Add(1)
			return out, e.clock(), nil
		}
	}
	d := e.dial(e.config(), g.Addrs(), scripts...)
	e.pass(5) // few: each has to get past sessions that would take all there is
	before := wakes.Load()
	e.until(func() bool { return wakes.Load() > before }, "sessions that are always due are woken again")
	d.Close()
}

// readsWhenOverdue: a runtime that makes the calls that are due first never
// comes to read.
func readsWhenOverdue(e *Env) {
	overdue := func(out []byte) ([]byte, int64, error) { return out, 1, nil }
	g := e.serve(script{data: echo.data, wake: overdue})
	var got atomic.Int64
	s := asker(text(1, 1000), &got)
	s.wake = overdue
	e.dial(e.config(), g.Addrs(), s)
	e.allClosed(2)
	e.wantCauses(2, true)
}

// isSerial has everything at once happen to a few sessions: data, times that
// come, and from three goroutines Group.Wake without a pause. The book of calls
// does the rest.
func isSerial(e *Env) {
	const conns, rounds, floods, burst = 4, 25, 3, 100
	g := e.listen(e.config(), func() script {
		// Each call yields half-way, so that one beside it would be seen.
		return script{
			data: func(in, out []byte) ([]byte, error) {
				runtime.Gosched()
				return append(out, in...), nil
			},
			wake: func(out []byte) ([]byte, int64, error) {
				runtime.Gosched()
				return out, e.clock() + int64(50*time.Microsecond), nil
			},
		}
	})
	var over atomic.Bool
	e.atEnd(func() { over.Store(true) })
	for range floods {
		e.beside(func() error {
			for n := 1; !over.Load(); n++ {
				if g.Wake(); n%burst == 0 {
					runtime.Gosched() // or the scheduler takes 10 ms for every turn of the others
				}
			}
			return nil
		})
	}
	e.each(conns, func(i int) error {
		c, err := e.peerTo(g.Addrs()[0])
		if err != nil {
			return err
		}
		for k := range rounds {
			if err := exchange(c, text(uint64(k), 500)); err != nil {
				return err
			}
		}
		return nil
	})
}
