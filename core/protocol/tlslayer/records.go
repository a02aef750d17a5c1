package tlslayer

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/netmatrix/netmatrix/core/transport"
)

// receive goes through the wire's input: handshake first, then records.
func (l *layer) receive() error {
	if l.handshake != nil {
		if !l.handshake.advance() {
			return nil // it needs more
		}
		err := l.handshake.err
		l.handshake, l.wire.handshake = nil, nil
		if err != nil {
			return fmt.Errorf("tls handshake: %w", err)
		}
		l.state = l.tls.ConnectionState()
		if err := l.open(); err != nil {
			return err
		}
	}
	return l.read()
}

func (l *layer) open() error {
	l.opened = true
	if err := l.send(l.inner.Open(l.reply[:0])); err != nil {
		return err
	}
	if w, ok := l.inner.(transport.Waker); ok {
		reply, _, err := w.Wake(l.reply[:0])
		return l.send(reply, err)
	}
	return nil
}

// read decrypts every record that is whole and hands the contents on, several
// records in one call if they have come together.
func (l *layer) read() error {
	have := 0
	for {
		n, err := l.tls.Read(l.plain[have:])
		have += n
		if err == nil && have < len(l.plain) {
			continue
		}
		// What came before the error comes first: a close_notify may travel
		// with the last record.
		if have > 0 {
			if err := l.send(l.inner.Data(l.plain[:have], l.reply[:0])); err != nil {
				return err
			}
			if have == len(l.plain) && have < mostPlain {
				l.plain = make([]byte, 2*have)
			}
			have = 0
		}
		switch {
		case err == nil:
		case errors.Is(err, wouldBlock{}):
			return nil
		case err == io.EOF:
			return l.end()
		case l.wire.ended && errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("tls: the peer's stream ends within a record: %w", err)
		default:
			return fmt.Errorf("tls: %w", err)
		}
	}
}

// end is the peer's close_notify, or the end of its stream between records.
func (l *layer) end() error {
	reply, err := l.inner.End(l.reply[:0])
	if err == nil {
		err = transport.ErrDone
	}
	return l.send(reply, err)
}

// send encrypts what a call of inner returned. After an error, ErrDone among
// them, it says that nothing follows: what was sent is whole.
func (l *layer) send(reply []byte, err error) error {
	if len(reply) > 0 {
		if _, werr := l.tls.Write(reply); werr != nil {
			return fmt.Errorf("tls: encrypt %d bytes: %w", len(reply), werr)
		}
	}
	if len(reply) > cap(l.reply) {
		// Not reply itself, which may be a slice of plain.
		l.reply = slices.Grow(l.reply[:0], len(reply))
	}
	if err != nil {
		if cerr := l.tls.CloseWrite(); cerr != nil && errors.Is(err, transport.ErrDone) {
			return fmt.Errorf("tls: close_notify: %w", cerr)
		}
	}
	return err
}
