package rawpoll

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// refusedFor is how long a dialled end stands being told that nobody listens.
// One datagram that met a closed port is one that was lost; when none arrives
// for so long and more are refused, there is nobody.
const refusedFor = int64(time.Second)

var errNobodyAsked = errors.New("the session sends before a datagram has come: it has nobody to send to")

// datagrams runs one session over one datagram socket. A dialled one has one
// peer. A listening one has a session for all peers, whose answers go to where
// the datagram came from.
//
// What the socket does not take is kept and sent when there is room, so that
// whatever gets lost is lost by the network. It is bounded by what is in flight:
// a listening end takes no more while answers wait, a dialled one is given no
// more than its session has asked for.
type datagrams struct {
	runner
	sock    socket
	dialled bool
	most    int // datagrams taken at once

	pending []datagram // what the socket did not take, in order
	refused int64      // when the first refusal came since the last datagram; 0: none
	unread  bool       // the socket may hold input
	starved bool       // the kernel is out of memory for output, and no event will tell
	watched bool       // room for output is reported
}

func newDatagrams(g *group, home *loop, sock socket, s transport.Session, dialled bool) *datagrams {
	d := &datagrams{sock: sock, dialled: dialled, watched: true}
	// As many as fit the cache that a stream's read buffer is sized for.
	d.most = min(max(g.readBytes/max(g.datagram, 1), 1), mailSlots)
	d.init(d, g, home, sock.fd, s)
	return d
}

func (d *datagrams) turn(b *buffers, s signal) (again bool) {
	if d.closed {
		return false
	}
	if s&shut != 0 {
		d.fail(errGroupClosed)
	}
	m := b.datagrams()
	d.unread = d.unread || s&readable != 0
	if len(d.pending) > 0 {
		d.pending = d.transmit(m, d.pending)
	}
	switch {
	case d.over:
	case !d.opened:
		d.open(m)
	case d.wakeDue(s):
		d.alarm(m)
	}
	if d.unread && d.reading() {
		d.read(m)
	}
	if d.over && len(d.pending) == 0 {
		d.leave()
		return false
	}
	if full := len(d.pending) > 0; full != d.watched {
		d.watched = full
		d.loop.poller.watchOutput(d.fd, d.gen, full)
	}
	return d.starved || d.unread && d.reading()
}

// reading reports whether input is taken now.
func (d *datagrams) reading() bool { return !d.over && (d.dialled || len(d.pending) == 0) }

func (d *datagrams) open(m *mail) {
	d.opened = true
	out, err := d.session.Open(m.room())
	d.speak(m, out, err)
	if d.waker != nil && !d.over {
		d.alarm(m)
	}
}

func (d *datagrams) alarm(m *mail) {
	out, err := d.wake(m.room())
	d.speak(m, out, err)
}

// speak sends what a session says on its own.
func (d *datagrams) speak(m *mail, out []byte, err error) {
	d.finish(err)
	if len(out) > 0 && !d.dialled {
		d.fail(errNobodyAsked)
		return
	}
	m.add(out, d.group.datagram, nil)
	d.send(m)
}

// read takes what one call brings, which is also a socket's share of a turn,
// and sends all answers together.
func (d *datagrams) read(m *mail) {
	n, emptied, errno := m.receive(d.fd, d.most)
	switch errno {
	case 0:
	case unix.EINTR:
		return
	case unix.EAGAIN:
		d.unread = false
		return
	case unix.ECONNREFUSED:
		d.refuse()
		return
	default:
		d.fail(fmt.Errorf("read from %s: %w", d.name(), errno))
		return
	}
	d.unread = !emptied
	d.refused = 0
	var err error
	for i := 0; i < n && err == nil; i++ {
		in := m.in[i]
		if len(in.data) == 0 {
			continue // it carries no message
		}
		if d.dialled {
			in.peer = nil
		}
		var out []byte
		out, err = d.session.Data(in.data, m.room())
		m.add(out, d.group.datagram, in.peer)
	}
	d.finish(err)
	d.send(m)
}

// send sends what was added to m, and keeps what the socket does not take.
func (d *datagrams) send(m *mail) {
	rest := m.out
	if len(d.pending) == 0 {
		rest = d.transmit(m, rest)
	}
	for _, x := range rest {
		kept := datagram{data: bytes.Clone(x.data)}
		if x.peer != nil {
			peer := *x.peer
			kept.peer = &peer
		}
		d.pending = append(d.pending, kept)
	}
	m.clear()
}

// transmit sends list as far as the socket takes it, and returns the rest.
func (d *datagrams) transmit(m *mail, list []datagram) (rest []datagram) {
	d.starved = false
	for len(list) > 0 {
		n, errno := m.send(d.fd, list)
		list = list[n:]
		switch {
		case errno == 0 || errno == unix.EINTR:
		case errno == unix.EAGAIN:
			return list
		case errno == unix.ENOBUFS:
			d.starved = true
			return list
		case errno == unix.ECONNREFUSED && d.dialled: // of an earlier one: this one was not tried
			if d.refuse() {
				return nil
			}
		case errno == unix.EMSGSIZE || d.dialled:
			d.fail(fmt.Errorf("send a datagram of %d bytes from %s: %w", len(list[0].data), d.name(), errno))
			return nil
		default:
			list = list[1:] // the sender cannot be answered, which is its affair
		}
	}
	return nil
}

// refuse notes that a datagram has met a closed port, and reports whether that
// was the end.
func (d *datagrams) refuse() bool {
	now := d.loop.clock()
	if d.refused == 0 {
		d.refused = now
	}
	if now-d.refused < refusedFor {
		return false
	}
	d.fail(fmt.Errorf("%s: nobody listens there: %w", d.name(), unix.ECONNREFUSED))
	return true
}

// finish is what follows the session's last word: what it has sent may still go.
func (d *datagrams) finish(err error) {
	if err == nil {
		return
	}
	d.over = true
	d.loop.timers.stop(&d.timer)
	if !errors.Is(err, transport.ErrDone) {
		d.err = err
	}
}

// fail ends it at once, whatever waits. The first error is the one that counts.
func (d *datagrams) fail(err error) {
	if d.err == nil {
		d.finish(err)
	}
	d.pending = nil
}

// name is what errors call the socket.
func (d *datagrams) name() string {
	if d.dialled {
		return d.sock.peer.String()
	}
	return d.sock.local
}
