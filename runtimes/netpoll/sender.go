package netpoll

import (
	"errors"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sender holds the socket of a connection and writes to it. What the socket
// takes at once is written by the caller, which may be a poller and must not
// wait. The rest is left to a goroutine that lives as long as there is some and
// waits for room by way of package net, on a descriptor of its own.
type sender struct {
	writers sync.WaitGroup

	mu      sync.Mutex
	fd      int          // the library's; -1 when it has closed it
	side    *net.TCPConn // the same socket for the writer; nil: not needed now
	busy    bool         // the writer runs
	pending []byte       // what it has not taken yet
	err     error        // why it gave up
	idle    sync.Cond    // busy has ended
}

// newSender takes the socket from package net.
func newSender(socket *net.TCPConn) (*sender, error) {
	s := &sender{fd: -1}
	s.idle.L = &s.mu
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		return s, err
	}
	var dupErr error
	err = raw.Control(func(fd uintptr) { s.fd, dupErr = duplicate(int(fd)) })
	return s, errors.Join(err, dupErr)
}

// send writes out or keeps a copy of it. It never waits for the network.
func (s *sender) send(out []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if !s.busy && s.fd >= 0 {
		n, err := write(s.fd, out)
		if err != nil {
			return os.NewSyscallError("write", err)
		}
		out = out[n:]
	}
	if len(out) == 0 {
		return nil
	}
	if s.side == nil {
		if s.fd < 0 {
			return net.ErrClosed
		}
		var err error
		if s.side, err = aside(s.fd); err != nil {
			return err
		}
	}
	s.pending = append(s.pending, out...)
	if !s.busy {
		s.busy = true
		s.writers.Go(s.write)
	}
	return nil
}

// write is the writer. An error shuts the socket, so that the library hears.
func (s *sender) write() {
	var chunk []byte
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) > 0 {
		chunk, s.pending = s.pending, chunk[:0]
		side := s.side
		s.mu.Unlock()
		_, err := side.Write(chunk)
		s.mu.Lock()
		if err != nil {
			s.err, s.pending = err, nil
			s.hangUpLocked()
		}
	}
	s.busy = false
	if s.fd >= 0 { // or package net's poller would watch the socket as well
		s.side.Close()
		s.side = nil
	}
	s.idle.Broadcast()
}

// wait returns once nothing is pending.
func (s *sender) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		s.idle.Wait()
	}
}

// leave is called before the library closes its descriptor. With more to come,
// one is kept to send it. It reports whether the peer reset the connection,
// which the library does not tell from an end.
func (s *sender) leave(more bool) (reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := unix.Getpeername(s.fd)
	reset = err != nil
	if more && !reset && s.side == nil {
		s.side, s.err = aside(s.fd)
	}
	s.fd = -1
	return reset
}

// shut tells the peer that no more will be sent.
func (s *sender) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd >= 0 {
		unix.Shutdown(s.fd, unix.SHUT_WR) // an error means that the peer was faster
	}
}

// hangUp makes the library close its descriptor.
func (s *sender) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangUpLocked()
}

func (s *sender) hangUpLocked() {
	if s.fd < 0 {
		return
	}
	var b [1]byte
	if n, _, _ := unix.Recvfrom(s.fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT); n > 0 {
		// Closing with input unread resets the connection, but shut for reading
		// it counts as read. The window would stay shut and the peer wait.
		unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	unix.Shutdown(s.fd, unix.SHUT_RDWR)
}

// cut ends all that waits on the socket.
func (s *sender) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangUpLocked()
	if s.side != nil {
		s.side.Close()
	}
}

// finish sends what is pending, lets go of the socket, and says what went wrong.
func (s *sender) finish() error {
	s.writers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.side != nil {
		s.side.Close()
	}
	return s.err
}

// write writes what fd takes now, which may be nothing.
func write(fd int, b []byte) (n int, err error) {
	for {
		n, err = unix.Write(fd, b)
		switch err {
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return n, err
		}
	}
}

// aside opens the socket of fd for package net.
func aside(fd int) (*net.TCPConn, error) {
	fd, err := duplicate(fd)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	c, err := net.FileConn(f) // duplicates once more
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

func duplicate(fd int) (int, error) {
	fd, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	return fd, os.NewSyscallError("fcntl", err)
}
