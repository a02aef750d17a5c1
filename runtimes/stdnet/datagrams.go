package stdnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

const (
	// datagramRoom is more than the largest datagram, 65,535 bytes less its
	// headers, so that none is ever cut off unseen.
	datagramRoom = 64 << 10
	// refusedFor is how long a dialled end stands being told that nobody
	// listens. One datagram that met a closed port is one that was lost; when
	// none arrives for so long and more are refused, there is nobody.
	refusedFor = time.Second
)

var errNobodyAsked = errors.New("the session sends before a datagram has come: it has nobody to send to")

// datagrams is one datagram socket and its pumps. There is none for writing: a
// datagram never waits for the peer to read, only for room in the socket, so
// whoever called the session sends what it returned, with the lock held.
type datagrams struct {
	runner
	socket  *net.UDPConn
	size    int  // bytes that one call's output is cut into; 0: not at all
	dialled bool // one peer; else answers go to where the datagram came from
	in      []byte
	out     []byte         // lent to the session for its output
	from    netip.AddrPort // of the datagram in hand
	refused time.Time      // when the first refusal came since the last datagram
}

func newDatagrams(g *group, socket *net.UDPConn, s transport.Session, dialled bool) *datagrams {
	d := &datagrams{socket: socket, size: g.config.DatagramBytes, dialled: dialled, in: make([]byte, datagramRoom)}
	d.init(g, s)
	return d
}

// run is the goroutine of the socket, and the read pump.
func (d *datagrams) run() {
	d.mu.Lock()
	d.take(d.session.Open(d.out[:0]))
	d.mu.Unlock()
	var pumps sync.WaitGroup
	if d.waker != nil {
		pumps.Go(func() { d.wake(d.wakeOnce) })
	}
	d.read()
	pumps.Wait()
	d.socket.Close()
	d.session.Close(d.err)
}

// cut ends it from outside.
func (d *datagrams) cut() { d.socket.Close() }

func (d *datagrams) read() {
	for {
		n, from, err := d.receive()
		d.mu.Lock()
		switch {
		case d.over:
		case err != nil:
			d.fail(d.tolerate(err))
		case n > 0: // else it carries no message
			d.from, d.refused = from, time.Time{}
			d.take(d.session.Data(d.in[:n], d.out[:0]))
			d.from = netip.AddrPort{}
		}
		over := d.over
		d.mu.Unlock()
		if over {
			return
		}
	}
}

func (d *datagrams) receive() (n int, from netip.AddrPort, err error) {
	if d.dialled {
		n, err = d.socket.Read(d.in)
		return n, from, err
	}
	return d.socket.ReadFromUDPAddrPort(d.in)
}

// wakeOnce makes one call of Wake, unless the session is over.
func (d *datagrams) wakeOnce() (next int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return 0
	}
	out, next, err := d.waker.Wake(d.out[:0])
	d.take(out, err)
	return next
}

// take sends what a call of the session returned. With the lock held.
func (d *datagrams) take(out []byte, err error) {
	sendErr := d.send(out)
	if len(out) > 0 && !overlap(out, d.in) {
		d.out = out // it may have grown
	}
	if err != nil && (sendErr == nil || !errors.Is(err, transport.ErrDone)) {
		d.fail(err)
	} else {
		d.fail(sendErr)
	}
}

// fail ends the session and gets the read pump out of its call; nil does not.
// With the lock held.
func (d *datagrams) fail(err error) {
	if err != nil {
		d.end(err)
		d.socket.Close()
	}
}

func (d *datagrams) send(out []byte) error {
	size := d.size
	if size == 0 {
		size = len(out)
	}
	for len(out) > 0 {
		n := min(size, len(out))
		if err := d.sendOne(out[:n]); err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}

// sendOne sends one datagram, again if it was not taken: whatever gets lost is
// lost by the network.
func (d *datagrams) sendOne(b []byte) error {
	for {
		var err error
		switch {
		case d.dialled:
			_, err = d.socket.Write(b)
		case d.from.IsValid():
			_, err = d.socket.WriteToUDPAddrPort(b, d.from)
		default:
			return errNobodyAsked
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.ENOBUFS): // no event tells when there is memory again
			runtime.Gosched()
		case errors.Is(err, syscall.ECONNREFUSED) && d.dialled: // an earlier one was: this one was not tried
			if err := d.tolerate(err); err != nil {
				return err
			}
		case d.dialled || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EMSGSIZE):
			return err
		default:
			return nil // the sender cannot be answered, which is its affair
		}
	}
}

// tolerate passes on an error, unless it is a refusal that need not be the end.
func (d *datagrams) tolerate(err error) error {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	now := time.Now()
	if d.refused.IsZero() {
		d.refused = now
	}
	if now.Sub(d.refused) < refusedFor {
		return nil
	}
	return fmt.Errorf("nobody listens there: %w", err)
}
