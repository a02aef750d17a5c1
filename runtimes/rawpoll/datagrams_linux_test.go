package rawpoll

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// sender sends what it has at once, from Open, and counts what comes.
type sender struct {
	echo
	out    []byte
	came   atomic.Int64
	closed chan error
}

func (s *sender) Open(out []byte) ([]byte, error) { return append(out, s.out...), nil }

func (s *sender) Data(in, out []byte) ([]byte, error) {
	s.came.Add(1)
	return out, nil
}

func (s *sender) Close(err error) { s.closed <- err }

// TestDatagramsWithoutRoomAreKept runs a session over a pair of local datagram
// sockets, which take few datagrams and no more until the other end has read:
// loopback always takes them. All arrive in order, and input is taken meanwhile.
func TestDatagramsWithoutRoomAreKept(t *testing.T) {
	const size, count = 100, 3000
	setups(t, func(t *testing.T, c transport.Config) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		peer := pair[1]
		t.Cleanup(func() { unix.Close(peer) })
		c.Network, c.DatagramBytes = udp, size
		s := &sender{closed: make(chan error, 1)}
		for i := range count {
			s.out = append(s.out, fmt.Sprintf("%*d", size, i)...)
		}
		g, err := New().open(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		d := newDatagrams(g, g.loops[0], socket{fd: pair[0]}, s, true)
		if err := d.start(); err != nil {
			t.Fatal(err)
		}
		const asked = 20
		for range asked {
			eventually(t, "the peer can send", func() bool {
				_, errno := send(peer, []byte("?"))
				return errno == 0
			})
		}
		eventually(t, "a session with output waiting has its input", func() bool { return s.came.Load() == asked })
		in := make([]byte, 2*size)
		for i := range count {
			var n int
			eventually(t, "a datagram arrives", func() bool {
				var errno unix.Errno
				n, errno = receive(peer, in)
				return errno == 0
			})
			if want := fmt.Appendf(nil, "%*d", size, i); !bytes.Equal(in[:n], want) {
				t.Fatalf("datagram %d is %q, want %q", i, in[:n], want)
			}
		}
		g.Close()
		if err := <-s.closed; err == nil {
			t.Error("Close was given nil where the group was closed")
		}
	})
}

// TestLastDatagramsAreSent: a session that ends with output waiting is closed
// when that has gone.
func TestLastDatagramsAreSent(t *testing.T) {
	var d datagrams
	d.pending = []datagram{{data: []byte("last")}}
	d.loop = &loop{}
	d.finish(transport.ErrDone)
	if !d.over || d.err != nil || len(d.pending) == 0 || d.reading() {
		t.Errorf("over %t, error %v, %d pending, reading %t; want it over and well, with 1 pending and no reading", d.over, d.err, len(d.pending), d.reading())
	}
	d.fail(errGroupClosed)
	if d.err == nil || len(d.pending) > 0 {
		t.Errorf("error %v, %d pending; want what was not sent to be an error", d.err, len(d.pending))
	}
}
