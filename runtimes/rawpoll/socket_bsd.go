//go:build darwin || freebsd

package rawpoll

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// receive reads without waiting. b is not empty.
func receive(fd int, b []byte) (int, unix.Errno) {
	return result(unix.Read(fd, b))
}

// send writes what fits without waiting. b is not empty.
func send(fd int, b []byte) (int, unix.Errno) {
	return result(unix.Write(fd, b))
}

func result(n int, err error) (int, unix.Errno) {
	if errno, ok := err.(unix.Errno); ok {
		return 0, errno
	}
	return n, 0
}

// The lock keeps a fork from inheriting a socket before it is marked.

func openSocket(family, kind int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(family, kind, 0)
	if err != nil {
		return -1, err
	}
	return mark(fd)
}

func acceptSocket(fd int) (int, unix.Sockaddr, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	accepted, peer, err := unix.Accept(fd)
	if err != nil {
		return -1, nil, err
	}
	accepted, err = mark(accepted)
	return accepted, peer, err
}

// mark makes a new socket non-blocking and closed on exec.
func mark(fd int) (int, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
