//go:build darwin || freebsd

package rawpoll

import "golang.org/x/sys/unix"

// address is a peer's, as it is only ever handed back.
type address struct{ name unix.Sockaddr }

// calls has nothing to prepare: these systems move one datagram a call.
type calls struct{}

func (calls) prepare(m *mail) {
	for i := range m.in {
		m.in[i].peer = &m.names[i]
	}
}

// receive takes up to most datagrams without waiting. emptied says that there
// were no more.
func (m *mail) receive(fd, most int) (n int, emptied bool, errno unix.Errno) {
	for ; n < most; n++ {
		size, from, err := unix.Recvfrom(fd, m.slot(n), 0)
		if err != nil {
			_, errno = result(0, err)
			break
		}
		m.in[n].data = m.slot(n)[:size:size]
		m.names[n].name = from
	}
	if n > 0 { // another error than this one is lost, and the next call shows what there is
		return n, errno == unix.EAGAIN, 0
	}
	return 0, false, errno
}

// send hands over list, which is not empty, without waiting. An error is that of
// the first datagram not sent.
func (calls) send(fd int, list []datagram) (sent int, errno unix.Errno) {
	for _, d := range list {
		if d.peer == nil {
			_, errno = send(fd, d.data)
		} else {
			_, errno = result(0, unix.Sendto(fd, d.data, 0, d.peer.name))
		}
		if errno != 0 {
			break
		}
		sent++
	}
	if sent > 0 {
		errno = 0
	}
	return sent, errno
}
