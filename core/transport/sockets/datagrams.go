package sockets

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"
)

const (
	// DatagramRoom is more than the largest datagram, 65,535 bytes less its
	// headers, so that none is ever cut off unseen. Bytes.
	DatagramRoom = 64 << 10
	// refusedFor is how long a dialled end stands being told that nobody
	// listens. One datagram that met a closed port is one that was lost; when
	// none arrives for so long and more are refused, there is nobody.
	refusedFor = time.Second
)

var errNobodyAsked = errors.New("the session sends before a datagram has come: it has nobody to send to")

// Datagrams is a datagram socket as a session needs it: one that is not dialled
// answers the sender of the datagram read last. Sending waits while the socket
// has no room, so nothing is lost here; and that room does not depend on what
// the peer reads, so waiting for it locks nobody. Calls of
// Note and Send are serial.
type Datagrams struct {
	*net.UDPConn
	size    int  // bytes that one call's output is cut into; 0: not at all
	dialled bool // one peer; else answers go to where the datagram came from
	from    netip.AddrPort
	refused time.Time // when the first refusal came since the last datagram
}

// NewDatagrams cuts what is sent into datagrams of size bytes; 0: not at all.
func NewDatagrams(socket *net.UDPConn, size int, dialled bool) *Datagrams {
	return &Datagrams{UDPConn: socket, size: size, dialled: dialled}
}

// Receive waits for one datagram and tells who sent it, if this end is not
// dialled. It may be called while Send is.
func (d *Datagrams) Receive(in []byte) (n int, from netip.AddrPort, err error) {
	if d.dialled {
		n, err = d.Read(in)
		return n, from, err
	}
	return d.ReadFromUDPAddrPort(in)
}

// Note takes what Receive returned before the session has the datagram: answers
// go to from, until the next Note. It passes on an error, unless it is a refusal
// that need not be the end.
func (d *Datagrams) Note(from netip.AddrPort, err error) error {
	d.from = from
	if err != nil {
		return d.tolerate(err)
	}
	d.refused = time.Time{}
	return nil
}

// Send sends one call's output.
func (d *Datagrams) Send(out []byte) error {
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

// sendOne sends one datagram, again if it was not taken.
func (d *Datagrams) sendOne(b []byte) error {
	for {
		var err error
		switch {
		case d.dialled:
			_, err = d.Write(b)
		case d.from.IsValid():
			_, err = d.WriteToUDPAddrPort(b, d.from)
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
func (d *Datagrams) tolerate(err error) error {
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
