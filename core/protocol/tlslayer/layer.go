// Package tlslayer puts TLS around any session: it is a session on the outside
// that speaks TLS, and calls the one inside with what it has decrypted. It
// drives crypto/tls from memory and knows no sockets; the package names types
// of net and time only because crypto/tls wants a net.Conn.
//
// Terms are the same for everyone: TLS 1.3 only, session tickets off, and
// records always of full size. crypto/tls would otherwise send records of about
// 1,200 bytes until 128 KiB have gone through a connection, and again after
// each second of silence, so that a figure depended on what came before it.
package tlslayer

import (
	"crypto/tls"
	"fmt"
	"net"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Session is a session under TLS.
type Session interface {
	transport.Session
	// State is what was negotiated. It is complete, and does not change any
	// more, from the Open of the session inside on.
	State() tls.ConnectionState
}

// Server makes the listening end. inner gets its Open when the handshake is
// complete; if that fails, its Close and nothing else. The result is a Waker
// if inner is one.
//
// An inner Waker has its first Wake right after its Open, within a Data call of
// the runtime. Of that one Wake the time it returns is lost, since Data has no
// way to pass it on: who relies on a time calls Group.Wake once the sessions
// are open.
func Server(inner transport.Session, cfg *tls.Config) Session {
	return wrap(inner, tls.Server, cfg)
}

// Client makes the dialling end, otherwise as Server.
func Client(inner transport.Session, cfg *tls.Config) Session {
	return wrap(inner, tls.Client, cfg)
}

// Describe names what was negotiated: version, cipher and curve.
func Describe(s tls.ConnectionState) string {
	return fmt.Sprintf("%s, %s, %s", tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite), s.CurveID)
}

const (
	firstPlain = 16 << 10  // bytes: one record
	mostPlain  = 256 << 10 // bytes: what a busy connection decrypts for one Data call
)

// layer is one end. Its calls are the runtime's, and serial as those are.
type layer struct {
	inner     transport.Session
	wire      wire
	tls       *tls.Conn
	state     tls.ConnectionState
	handshake *handshake // nil before Open and once it is over
	opened    bool       // inner has had its Open

	plain []byte // what was decrypted last
	reply []byte // room for what inner appends
}

// wakingLayer is a layer around a Waker.
type wakingLayer struct {
	*layer
	waker transport.Waker
}

var (
	_ Session         = (*layer)(nil)
	_ transport.Waker = wakingLayer{}
)

func wrap(inner transport.Session, end func(net.Conn, *tls.Config) *tls.Conn, cfg *tls.Config) Session {
	cfg = cfg.Clone()
	cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS13, tls.VersionTLS13
	cfg.SessionTicketsDisabled = true
	cfg.DynamicRecordSizingDisabled = true
	l := &layer{inner: inner, plain: make([]byte, firstPlain)}
	l.tls = end(&l.wire, cfg)
	if w, ok := inner.(transport.Waker); ok {
		return wakingLayer{l, w}
	}
	return l
}

func (l *layer) State() tls.ConnectionState { return l.state }

func (l *layer) Open(out []byte) ([]byte, error) {
	l.handshake = begin(&l.wire, l.tls.Handshake)
	return l.with(nil, out, l.receive)
}

func (l *layer) Data(in, out []byte) ([]byte, error) {
	return l.with(in, out, l.receive)
}

// End without a close_notify before it is taken for the end only between two
// records. Whether it is the end between two messages as well, the session
// inside knows, and says in what its End returns.
func (l *layer) End(out []byte) ([]byte, error) {
	l.wire.ended = true
	return l.with(nil, out, l.receive)
}

func (w wakingLayer) Wake(out []byte) (o []byte, next int64, err error) {
	if !w.opened {
		return out, 0, nil
	}
	w.wire.out = out
	reply, next, err := w.waker.Wake(w.reply[:0])
	err = w.send(reply, err)
	return w.wire.give(), next, err
}

func (l *layer) Close(err error) {
	if l.handshake != nil {
		l.wire.closed = true
		l.handshake.advance() // it ends now, and its goroutine with it
	}
	l.inner.Close(err)
}

// with lends in and out to the wire for the length of f.
func (l *layer) with(in, out []byte, f func() error) ([]byte, error) {
	l.wire.in, l.wire.out = in, out
	err := f()
	l.wire.in = nil
	return l.wire.give(), err
}
