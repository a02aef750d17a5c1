package tlslayer

import (
	"io"
	"net"
	"time"
)

// wire is the connection that crypto/tls believes in: it reads what the runtime
// handed over and writes to what the runtime sends. A write takes everything,
// since crypto/tls never recovers from one that does not.
type wire struct {
	in, out   []byte // lent for the call being served
	ended     bool   // nothing follows in
	closed    bool
	handshake *handshake // while it runs: whoever finds no input gives up its turn
}

var _ net.Conn = (*wire)(nil)

// wouldBlock says that the record is not complete yet. Being temporary it
// leaves crypto/tls in the middle of the record, ready to go on.
type wouldBlock struct{}

func (wouldBlock) Error() string   { return "no more input yet" }
func (wouldBlock) Timeout() bool   { return true }
func (wouldBlock) Temporary() bool { return true }

func (w *wire) Read(b []byte) (int, error) {
	for len(w.in) == 0 {
		switch {
		case w.closed:
			return 0, net.ErrClosed
		case w.ended:
			return 0, io.EOF
		case w.handshake == nil:
			return 0, wouldBlock{}
		}
		w.handshake.pause()
	}
	n := copy(b, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) {
	w.out = append(w.out, b...)
	return len(b), nil
}

// give returns what is to be sent, and lets go of it.
func (w *wire) give() []byte {
	out := w.out
	w.out = nil
	return out
}

// The rest of a net.Conn: nothing here has an address or waits.

func (w *wire) Close() error                     { return nil }
func (w *wire) LocalAddr() net.Addr              { return address{} }
func (w *wire) RemoteAddr() net.Addr             { return address{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "memory" }
