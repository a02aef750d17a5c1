package rawpoll

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// patience bounds every wait of a test for something that should come at once.
const patience = 10 * time.Second

// echo sends back what comes, from the buffer it came in.
type echo struct{ closed func(error) }

func (e *echo) Open(out []byte) ([]byte, error)     { return out, nil }
func (e *echo) Data(in, out []byte) ([]byte, error) { return in, nil }
func (e *echo) End(out []byte) ([]byte, error)      { return out, nil }
func (e *echo) Close(err error) {
	if e.closed != nil {
		e.closed(err)
	}
}

// caller sends data in Open and collects the echo, until all is back.
type caller struct {
	data []byte
	got  []byte
	err  error
	done chan struct{}
}

func newCaller(data []byte) *caller { return &caller{data: data, done: make(chan struct{})} }

func (c *caller) Open(out []byte) ([]byte, error) { return append(out, c.data...), nil }
func (c *caller) Data(in, out []byte) ([]byte, error) {
	c.got = append(c.got, in...)
	if len(c.got) >= len(c.data) {
		return out, transport.ErrDone
	}
	return out, nil
}
func (c *caller) End(out []byte) ([]byte, error) { return out, io.ErrUnexpectedEOF }
func (c *caller) Close(err error) {
	c.err = err
	close(c.done)
}

func (c *caller) check(t *testing.T) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Fatalf("no end after %v", patience)
	}
	if c.err != nil {
		t.Errorf("session closed with %v, want nil", c.err)
	}
	if !bytes.Equal(c.got, c.data) {
		t.Errorf("echo of %d bytes differs from the %d sent", len(c.got), len(c.data))
	}
}

// setups are all the ways a connection can be run.
func setups(t *testing.T, f func(t *testing.T, c transport.Config)) {
	for _, execution := range []string{callback, goroutine} {
		for _, io := range []struct {
			model   string
			threads int
		}{{shared, 1}, {shared, 3}, {sharded, 2}} {
			name := fmt.Sprintf("%s/%s×%d", execution, io.model, io.threads)
			t.Run(name, func(t *testing.T) {
				f(t, transport.Config{Execution: execution, IOModel: io.model, Threads: io.threads})
			})
		}
	}
}

func listen(t *testing.T, r *Runtime, c transport.Config, session func() transport.Session) transport.Group {
	t.Helper()
	g, err := r.Listen(c, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func dial(t *testing.T, r *Runtime, c transport.Config, addrs []string, s ...transport.Session) transport.Group {
	t.Helper()
	g, err := r.Dial(c, addrs, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// random returns n bytes that look like no others, cut from one table.
func random(n int) []byte { return bytesTable[:n] }

var bytesTable = func() []byte {
	b := make([]byte, 4<<20)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}()

func TestEcho(t *testing.T) {
	for _, size := range []int{1, 256 << 10, 2 << 20} {
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			t.Run(fmt.Sprintf("%s/%d", address, size), func(t *testing.T) {
				setups(t, func(t *testing.T, c transport.Config) {
					r := New()
					c.Address = address
					server := listen(t, r, c, func() transport.Session { return &echo{} })
					var callers []*caller
					var sessions []transport.Session
					for i := range 5 {
						callers = append(callers, newCaller(random(size+i)))
						sessions = append(sessions, callers[i])
					}
					client := dial(t, r, c, server.Addrs(), sessions...)
					for _, c := range callers {
						c.check(t)
					}
					eventually(t, "nothing is live", func() bool { return server.Live() == 0 && client.Live() == 0 })
				})
			})
		}
	}
}

// TestSmallBuffers has both directions full: the listening end pauses, the
// dialled end reads on.
func TestSmallBuffers(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		r := New()
		c.SendBuffer, c.ReceiveBuffer, c.ReadBuffer = 8<<10, 8<<10, 4<<10
		server := listen(t, r, c, func() transport.Session { return &echo{} })
		a, b := newCaller(random(2<<20)), newCaller(random(100))
		dial(t, r, c, server.Addrs(), a, b)
		a.check(t)
		b.check(t)
	})
}

// counter takes in everything and answers with nothing.
type counter struct {
	echo
	bytes atomic.Int64
}

func (c *counter) Data(in, out []byte) ([]byte, error) {
	c.bytes.Add(int64(len(in)))
	return out, nil
}

func TestDataBeforeTheEnd(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		r := New()
		var total atomic.Int64
		var ends sync.WaitGroup
		ends.Add(100)
		server := listen(t, r, c, func() transport.Session {
			s := &counter{}
			s.closed = func(err error) {
				if err != nil {
					t.Errorf("closed with %v, want nil", err)
				}
				total.Add(s.bytes.Load())
				ends.Done()
			}
			return s
		})
		for range 100 {
			nc, err := net.Dial("tcp", server.Addrs()[0])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := nc.Write(random(27260)); err != nil {
				t.Fatal(err)
			}
			nc.Close()
		}
		ends.Wait()
		if got, want := total.Load(), int64(100*27260); got != want {
			t.Errorf("got %d bytes, want %d", got, want)
		}
	})
}

func TestPausesReading(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		r := New()
		c.SendBuffer, c.ReceiveBuffer = 64<<10, 64<<10
		server := listen(t, r, c, func() transport.Session { return &echo{} })
		nc, err := net.Dial("tcp", server.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		// Nothing is read here: the echo has to stop taking what we send.
		chunk, sent := make([]byte, 64<<10), 0
		for sent < 64<<20 {
			nc.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			n, err := nc.Write(chunk)
			sent += n
			if err != nil {
				break
			}
		}
		if sent >= 64<<20 {
			t.Fatalf("all of %d bytes taken from a peer that reads nothing", sent)
		}
		// Now read: all of it comes back.
		nc.SetReadDeadline(time.Now().Add(patience))
		if n, err := io.ReadFull(nc, make([]byte, sent)); err != nil {
			t.Errorf("%d of %d bytes came back: %v", n, sent, err)
		}
	})
}

// TestPeerGone writes to a peer that has closed: the input it left is still
// handed over, and the session hears of the trouble.
func TestPeerGone(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		closed := make(chan error, 1)
		server := listen(t, New(), c, func() transport.Session {
			return &echo{closed: func(err error) { closed <- err }}
		})
		nc, err := net.Dial("tcp", server.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		nc.(*net.TCPConn).SetLinger(0)
		nc.Write(random(1000))
		nc.Close()
		select {
		case <-closed:
		case <-time.After(patience):
			t.Fatal("session not closed")
		}
		eventually(t, "nothing is live", func() bool { return server.Live() == 0 })
	})
}

func TestGroupCloseCutsOff(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		before := runtime.NumGoroutine()
		r := New()
		var closes atomic.Int64
		closed := func(err error) {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed with %v, want net.ErrClosed", err)
			}
			closes.Add(1)
		}
		server := listen(t, r, c, func() transport.Session { return &counter{echo: echo{closed: closed}} })
		var sessions []transport.Session
		for range 20 {
			// These see the server go, in good order, or are cut off too.
			sessions = append(sessions, &counter{echo: echo{closed: func(error) { closes.Add(1) }}})
		}
		client := dial(t, r, c, server.Addrs(), sessions...)
		if got := client.Live(); got != 20 {
			t.Errorf("dialled group has %d live, want 20", got)
		}
		eventually(t, "20 accepted", func() bool { return server.Live() == 20 })
		server.Close()
		if got := server.Live(); got != 0 {
			t.Errorf("closed group has %d live", got)
		}
		client.Close()
		if got := closes.Load(); got != 40 {
			t.Errorf("%d sessions had their Close, want 40", got)
		}
		eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
		if r.loops != nil {
			t.Error("loops left after the last group")
		}
	})
}

func TestDialRefused(t *testing.T) {
	nc, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	s := newCaller(nil)
	g, err := New().Dial(transport.Config{}, []string{nc.Addr().String()}, []transport.Session{s})
	if err == nil {
		g.Close()
		t.Fatal("dialled a closed port")
	}
	<-s.done
	if s.err == nil || !strings.Contains(err.Error(), nc.Addr().String()) {
		t.Errorf("session got %v, caller got %v; want the address in it", s.err, err)
	}
}

// ticker is woken at fixed times.
type ticker struct {
	echo
	clock func() int64
	every int64
	next  int64
	calls atomic.Int64
	early atomic.Int64
}

func (k *ticker) Wake(out []byte) ([]byte, int64, error) {
	now := k.clock()
	if k.calls.Add(1) > 1 && now < k.next {
		k.early.Add(1)
	}
	k.next = now + k.every
	return out, k.next, nil
}

func TestWakeNeverEarly(t *testing.T) {
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprintf("busy=%v", busy), func(t *testing.T) {
			setups(t, func(t *testing.T, c transport.Config) {
				start := time.Now().Add(-time.Hour)
				c.Clock = func() int64 { return int64(time.Since(start)) }
				c.Busy = busy
				r := New()
				server := listen(t, r, c, func() transport.Session { return &echo{} })
				k := &ticker{clock: c.Clock, every: int64(300 * time.Microsecond)}
				dial(t, r, c, server.Addrs(), k)
				eventually(t, "20 calls", func() bool { return k.calls.Load() > 20 })
				if n := k.early.Load(); n > 0 {
					t.Errorf("%d of %d calls came early", n, k.calls.Load())
				}
			})
		})
	}
}

// sleeper asks for no time of its own.
type sleeper struct {
	echo
	calls atomic.Int64
}

func (s *sleeper) Wake(out []byte) ([]byte, int64, error) {
	s.calls.Add(1)
	return out, 0, nil
}

func TestGroupWake(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		r := New()
		server := listen(t, r, c, func() transport.Session { return &echo{} })
		var list []*sleeper
		var sessions []transport.Session
		for range 7 {
			s := &sleeper{}
			list = append(list, s)
			sessions = append(sessions, s)
		}
		g := dial(t, r, c, server.Addrs(), sessions...)
		each := func(n int64) func() bool {
			return func() bool {
				for _, s := range list {
					if s.calls.Load() != n {
						return false
					}
				}
				return true
			}
		}
		eventually(t, "one call each after Open", each(1))
		g.Wake()
		eventually(t, "one call more each", each(2))
	})
}
