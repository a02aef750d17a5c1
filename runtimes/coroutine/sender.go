package coroutine

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// sender writes for a dialled connection, which must go on reading while its
// output waits for the network: two ends that both wait for the other to read
// would wait for ever. What the socket takes at once is written by the caller,
// as on an accepted connection; the rest is left to a goroutine that lives as
// long as there is some.
type sender struct {
	socket *net.TCPConn
	raw    syscall.RawConn

	try   func(fd uintptr) bool // writes chunk; made once, as it would escape each time
	chunk []byte
	n     int
	errno error

	busy   atomic.Bool // writer runs; set by send alone, reset by writer alone
	writer sync.WaitGroup

	mu      sync.Mutex
	pending []byte // what writer has not taken yet
	err     error  // why writer gave up
}

func newSender(socket *net.TCPConn) *sender {
	s := &sender{socket: socket}
	s.raw, _ = socket.SyscallConn() // an error there means a nil socket
	s.try = func(fd uintptr) bool {
		s.n, s.errno = ignoringEINTR(int(fd), s.chunk)
		return true // taken or not: do not wait
	}
	return s
}

// send writes out or keeps a copy of it. It never waits for the network.
func (s *sender) send(out []byte) error {
	if s.busy.Load() && s.enqueue(out) {
		return nil
	}
	s.chunk = out
	if err := s.raw.Write(s.try); err != nil {
		return err
	}
	s.chunk = nil
	if s.errno != nil && s.errno != syscall.EAGAIN {
		return os.NewSyscallError("write", s.errno)
	}
	if rest := out[max(s.n, 0):]; len(rest) > 0 {
		s.pending = append(s.pending, rest...) // no writer: nobody else looks at it
		s.busy.Store(true)
		s.writer.Go(s.write)
	}
	return nil
}

// enqueue leaves out to the running writer. It reports false if that has ended.
func (s *sender) enqueue(out []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy.Load() {
		return false
	}
	s.pending = append(s.pending, out...)
	return true
}

// write is the writer: it sends until nothing is pending. An error closes the
// socket, which gets the connection's goroutine out of its Read.
func (s *sender) write() {
	var chunk []byte
	for {
		s.mu.Lock()
		if len(s.pending) == 0 {
			s.busy.Store(false)
			s.mu.Unlock()
			return
		}
		chunk, s.pending = s.pending, chunk[:0]
		s.mu.Unlock()
		if _, err := s.socket.Write(chunk); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			s.socket.Close()
			return
		}
	}
}

// wait returns once nothing is pending or the writer gave up, and says why.
func (s *sender) wait() error {
	s.writer.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func ignoringEINTR(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
