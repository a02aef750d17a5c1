package coroutine

import (
	"io"
	"net"
	"sync"
	"time"
)

// lingerTime is how long input is dropped after the sending side was shut.
const lingerTime = time.Second

// stream is the line over a TCP connection.
type stream struct {
	*net.TCPConn
	sender *sender // nil: accepted, writes wait for the network
}

var _ line = (*stream)(nil)

func newStream(socket *net.TCPConn, dialled bool) *stream {
	s := &stream{TCPConn: socket}
	if dialled {
		s.sender = newSender(socket)
	}
	return s
}

func (s *stream) send(out []byte) error {
	if s.sender != nil {
		return s.sender.send(out)
	}
	_, err := s.Write(out)
	return err
}

// linger shuts the sending side once all is sent, and drops what still arrives
// for a second, so that closing with input unread cannot reset the connection
// and take the last answer with it.
func (s *stream) linger() {
	shut := func() {
		s.CloseWrite()
		s.SetReadDeadline(time.Now().Add(lingerTime))
	}
	var last sync.WaitGroup
	if s.sender == nil {
		shut()
	} else { // read on while output is pending, or the peer may not read either
		s.SetReadDeadline(time.Time{})
		last.Go(func() { s.sender.wait(); shut() })
	}
	io.Copy(io.Discard, s.TCPConn)
	last.Wait()
}

func (s *stream) wait() error {
	if s.sender == nil {
		return nil
	}
	return s.sender.wait()
}
