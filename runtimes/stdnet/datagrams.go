package stdnet

import (
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// datagrams is one datagram socket and its pumps. There is none for writing: a
// datagram never waits for the peer to read, only for room in the socket, so
// whoever called the session sends what it returned, with the lock held.
type datagrams struct {
	runner
	socket *sockets.Datagrams
	in     []byte
	out    []byte // lent to the session for its output
}

func newDatagrams(cfg transport.Config, socket *net.UDPConn, s transport.Session, dialled bool) *datagrams {
	d := &datagrams{socket: sockets.NewDatagrams(socket, cfg.DatagramBytes, dialled), in: make([]byte, sockets.DatagramRoom)}
	d.init(cfg.Clock, s)
	return d
}

// Run is the goroutine of the socket, and the read pump.
func (d *datagrams) Run() {
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

// Cut ends it from outside.
func (d *datagrams) Cut() { d.socket.Close() }

func (d *datagrams) read() {
	for {
		n, from, err := d.socket.Receive(d.in)
		d.mu.Lock()
		switch {
		case d.over:
		case err != nil:
			d.fail(d.socket.Note(from, err))
		case n > 0: // else it carries no message
			_ = d.socket.Note(from, nil)
			d.take(d.session.Data(d.in[:n], d.out[:0]))
			_ = d.socket.Note(netip.AddrPort{}, nil) // a Wake has nobody to answer
		}
		over := d.over
		d.mu.Unlock()
		if over {
			return
		}
	}
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
	sendErr := d.socket.Send(out)
	if len(out) > 0 && !sockets.Overlap(out, d.in) {
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
