package coroutine

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
	// datagramRoom is more than the largest datagram, 65,535 bytes less its
	// headers, so that none is ever cut off unseen.
	datagramRoom = 64 << 10
	// refusedFor is how long a dialled end stands being told that nobody
	// listens. One datagram that met a closed port is one that was lost; when
	// none arrives for so long and more are refused, there is nobody.
	refusedFor = time.Second
)

var errNobodyAsked = errors.New("the session sends before a datagram has come: it has nobody to send to")

// datagrams is the line over a UDP socket. Sending waits while the socket has no
// room, so nothing is lost here; and that room does not depend on what the peer
// reads, so waiting for it locks nobody.
type datagrams struct {
	*net.UDPConn
	size    int  // bytes that one call's output is cut into; 0: not at all
	dialled bool // one peer; else answers go to where the datagram came from
	from    netip.AddrPort
	refused time.Time // when the first refusal came since the last datagram
}

var _ line = (*datagrams)(nil)

func (d *datagrams) Read(in []byte) (n int, err error) {
	if d.dialled {
		n, err = d.UDPConn.Read(in)
	} else {
		d.from = netip.AddrPort{}
		n, d.from, err = d.ReadFromUDPAddrPort(in)
	}
	if err == nil {
		d.refused = time.Time{}
		return n, nil
	}
	return 0, d.tolerate(err)
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

// sendOne sends one datagram, again if it was not taken.
func (d *datagrams) sendOne(b []byte) error {
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

func (d *datagrams) linger() {}

func (d *datagrams) wait() error { return nil }
