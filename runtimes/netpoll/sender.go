package netpoll

import (
	"errors"
	"net"
	"os"
	"sync"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"
)

// sender holds the socket of a connection and writes to it, from a buffer of
// the library and in the steps of the library's Flush: one contiguous Malloc,
// write, Skip, Release. What the socket takes at once is written by the caller,
// which may be a poller and must not wait. The rest is left to a goroutine that
// lives as long as there is some and waits for room by way of package net, on a
// descriptor of its own.
//
// Note: Flush itself waits for the poller when the socket is full, which on a
// poller is for ever. With a write deadline long past it does not wait, but
// then nobody learns when the rest is sent. And once the peer has sent all it
// wanted, the library takes the connection for closed and drops what was not
// flushed, without saying how much that is.
type sender struct {
	writers sync.WaitGroup

	mu   sync.Mutex
	fd   int                 // the library's; -1 when it has closed it
	side *net.TCPConn        // the same socket for the writer; nil: not needed now
	out  *netpoll.LinkBuffer // what is not sent yet
	busy bool                // the writer runs
	err  error               // why it gave up
	idle sync.Cond           // busy has ended
}

// newSender takes the socket from package net.
func newSender(socket *net.TCPConn) (*sender, error) {
	s := &sender{fd: -1, out: netpoll.NewLinkBuffer()}
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

// send writes b or keeps a copy of it. It never waits for the network.
func (s *sender) send(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	chunk, err := s.out.Malloc(len(b))
	if err != nil {
		return err
	}
	copy(chunk, b)
	s.out.Flush()
	if s.busy {
		return nil
	}
	if s.fd >= 0 {
		n, err := write(s.fd, chunk)
		if err != nil {
			return os.NewSyscallError("write", err)
		}
		s.out.Skip(n)
		s.out.Release()
	}
	if s.out.Len() == 0 {
		return nil
	}
	if s.side == nil {
		if s.side, err = aside(s.fd); err != nil {
			return err
		}
	}
	s.busy = true
	s.writers.Go(s.write)
	return nil
}

// write is the writer. An error shuts the socket, so that the library hears.
func (s *sender) write() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && s.out.Len() > 0 {
		chunk, _ := s.out.Next(s.out.Len()) // an error would mean that there is less
		side := s.side
		s.mu.Unlock()
		_, err := side.Write(chunk)
		s.mu.Lock()
		s.out.Release()
		if err != nil {
			s.err = err
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
	s.out.Close()
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
