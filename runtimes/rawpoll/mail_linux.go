//go:build linux

package rawpoll

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// address is a peer's, as the kernel wrote it: it is only ever handed back.
type address struct {
	name   unix.RawSockaddrInet6 // the longer of the two families
	length uint32
}

// calls are the arguments of recvmmsg and sendmmsg. Both bypass the scheduler,
// as receive does.
type calls struct {
	in, out           [mailSlots]unix.Mmsghdr
	inParts, outParts [mailSlots]unix.Iovec
}

// prepare points the arguments of recvmmsg at the slots, once for all calls.
func (c *calls) prepare(m *mail) {
	for i := range c.in {
		slot, hdr := m.slot(i), &c.in[i].Hdr
		c.inParts[i].Base = &slot[0]
		c.inParts[i].SetLen(len(slot))
		hdr.Iov = &c.inParts[i]
		hdr.SetIovlen(1)
		hdr.Name = (*byte)(unsafe.Pointer(&m.names[i].name))
		hdr.Namelen = unix.SizeofSockaddrInet6
		m.in[i].peer = &m.names[i]
	}
}

// receive takes up to most datagrams without waiting. emptied says that there
// were no more.
func (m *mail) receive(fd, most int) (n int, emptied bool, errno unix.Errno) {
	got, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&m.calls.in[0])), uintptr(most), 0, 0, 0)
	if errno != 0 {
		return 0, false, errno
	}
	n = int(got)
	for i := range n {
		hdr := &m.calls.in[i]
		m.in[i].data = m.slot(i)[:hdr.Len:hdr.Len]
		m.names[i].length = hdr.Hdr.Namelen
		hdr.Hdr.Namelen = unix.SizeofSockaddrInet6
	}
	return n, n < most, 0
}

// send hands over list, which is not empty and not longer than mailSlots,
// without waiting. An error is that of the first datagram not sent.
func (c *calls) send(fd int, list []datagram) (sent int, errno unix.Errno) {
	if len(list) == 1 {
		return sendTo(fd, list[0])
	}
	for i := range list {
		part, hdr := &c.outParts[i], &c.out[i].Hdr
		part.Base = &list[i].data[0]
		part.SetLen(len(list[i].data))
		hdr.Iov = part
		hdr.SetIovlen(1)
		hdr.Name, hdr.Namelen = nil, 0
		if peer := list[i].peer; peer != nil {
			hdr.Name, hdr.Namelen = (*byte)(unsafe.Pointer(&peer.name)), peer.length
		}
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&c.out[0])), uintptr(len(list)), unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// sendTo sends one datagram. Without the headers that sendmmsg copies in, one
// client with a window of 1 costs both ends about 2 % less CPU.
func sendTo(fd int, d datagram) (sent int, errno unix.Errno) {
	var name unsafe.Pointer
	var length uint32
	if d.peer != nil {
		name, length = unsafe.Pointer(&d.peer.name), d.peer.length
	}
	_, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(&d.data[0])), uintptr(len(d.data)), unix.MSG_NOSIGNAL, uintptr(name), uintptr(length))
	if errno != 0 {
		return 0, errno
	}
	return 1, 0
}
