package blackbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol"
)

// peer is a client of package net: whatever the plugin does, it is the other
// end that everybody knows. Its framing is the client codec's.
type peer struct {
	env    *env
	id     uint32
	socket net.Conn // of the operating system
	conn   net.Conn // what the codec's bytes go through: socket, or TLS over it

	// A peer sends on one goroutine and receives on another: turn makes the
	// codec's calls serial.
	turn  sync.Mutex
	codec protocol.Codec

	in  []byte // arrived and not taken yet
	buf []byte // to read into
	out []byte // to frame in
}

// dial connects a peer, which is then ready to send messages. With sharded
// datagrams peers take turns at the addresses.
func (e *env) dial(id int) (*peer, error) { return e.dialCut(id, nil) }

// dialCut is dial with what the peer writes cut on its way to the socket.
func (e *env) dialCut(id int, cut cut) (*peer, error) {
	d := net.Dialer{Timeout: patience}
	socket, err := d.DialContext(e.ctx, e.protocol.Network, e.addrs[id%len(e.addrs)])
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	e.owns(socket)
	p := &peer{env: e, id: uint32(id), socket: socket, conn: socket, codec: e.protocol.Client(), buf: make([]byte, 64<<10)}
	if cut != nil {
		p.conn = &cutConn{socket, cut}
	}
	if e.protocol.TLS {
		if err := p.secure(); err != nil {
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
	}
	return p, p.open()
}

func (p *peer) secure() error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.env.certs.CA)
	c := tls.Client(p.conn, &tls.Config{RootCAs: roots, ServerName: control.ServerName, MinVersion: tls.VersionTLS13})
	ctx, cancel := context.WithTimeout(p.env.ctx, patience)
	defer cancel()
	p.conn = c
	return c.HandshakeContext(ctx)
}

// open does what the protocol wants before messages may be sent.
func (p *peer) open() error {
	out, err := p.codec.Open(nil)
	if err != nil {
		return err
	}
	for {
		if len(out) > 0 {
			if err := p.write(out); err != nil {
				return err
			}
		}
		if p.codec.Ready() {
			return nil
		}
		if err := p.read(patience); err != nil {
			return fmt.Errorf("opening the conversation: %w", err)
		}
		_, used, o, err := p.codec.Next(p.in, out[:0])
		if err != nil {
			return fmt.Errorf("opening the conversation: %w", err)
		}
		p.in, out = p.in[used:], o
	}
}

// write sends b; a peer that cannot get rid of it gives up at the rule's end.
func (p *peer) write(b []byte) error {
	deadline, _ := p.env.ctx.Deadline()
	_ = p.conn.SetWriteDeadline(deadline)
	if _, err := p.conn.Write(b); err != nil {
		return fmt.Errorf("send %d bytes: %w", len(b), err)
	}
	return nil
}

// read waits for more bytes.
func (p *peer) read(within time.Duration) error {
	_ = p.conn.SetReadDeadline(time.Now().Add(within))
	n, err := p.conn.Read(p.buf)
	if n > 0 {
		p.in = append(p.in, p.buf[:n]...)
		return nil
	}
	return err
}

func (p *peer) next() (msg []byte, used int, out []byte, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.codec.Next(p.in, nil)
}

// receive returns the next message, which is valid until the next call.
func (p *peer) receive(within time.Duration) ([]byte, error) {
	for {
		for len(p.in) > 0 {
			msg, used, out, err := p.next()
			if used == 0 && err == nil {
				break
			}
			if err != nil && msg == nil {
				return nil, fmt.Errorf("what came back is no message: %w", err)
			}
			p.in = p.in[used:]
			if len(out) > 0 {
				if err := p.write(out); err != nil {
					return nil, err
				}
			}
			if msg != nil {
				return msg, nil
			}
		}
		if err := p.read(within); err != nil {
			return nil, err
		}
	}
}

// frame appends message seq to out.
func (p *peer) frame(out []byte, seq uint32) []byte {
	var head [message.HeaderBytes]byte
	message.Header{Client: p.id, Seq: seq}.Put(head[:])
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.codec.Append(out, head[:], p.env.bodies.Body(p.id, seq))
}

// ask sends n messages from first on: glued together, or a datagram each.
func (p *peer) ask(first uint32, n int) error {
	p.out = p.out[:0]
	for i := range uint32(n) {
		p.out = p.frame(p.out, first+i)
		if p.env.protocol.Datagram {
			if err := p.write(p.out); err != nil {
				return err
			}
			p.out = p.out[:0]
		}
	}
	if len(p.out) == 0 {
		return nil
	}
	return p.write(p.out)
}

// answers takes n answers from first on, each once and whole: in order, but for
// datagrams.
func (p *peer) answers(first uint32, n int) error {
	missing := make(map[uint32]bool)
	for i := range uint32(n) {
		missing[first+i] = true
	}
	for i := range uint32(n) {
		msg, err := p.receive(patience)
		if err != nil {
			return fmt.Errorf("%d of %d messages were answered, then: %w", i, n, silence(err))
		}
		h, ok := message.Parse(msg)
		switch {
		case !ok:
			return fmt.Errorf("an answer of %d bytes has no header", len(msg))
		case h.Client != p.id:
			return fmt.Errorf("the answer to message %d of connection %d came to connection %d", h.Seq, h.Client, p.id)
		case !p.env.protocol.Datagram && h.Seq != first+i:
			return fmt.Errorf("the answer to message %d came where that to %d was due", h.Seq, first+i)
		case !missing[h.Seq]:
			return fmt.Errorf("message %d was answered twice", h.Seq)
		}
		delete(missing, h.Seq)
		if err := p.env.check(msg, h); err != nil {
			return err
		}
	}
	return nil
}

// check looks at what an answer holds.
func (e *env) check(msg []byte, h message.Header) error {
	if want := e.work.Result(h.Client, h.Seq); h.Result != want {
		return fmt.Errorf("the work for message %d gave %#x, it should be %#x", h.Seq, h.Result, want)
	}
	if !e.bodies.Equal(msg, h.Client, h.Seq) {
		return fmt.Errorf("the answer to message %d of %d bytes is not what was sent", h.Seq, len(msg))
	}
	return nil
}

// exchange sends n messages from first on and checks their answers.
func (p *peer) exchange(first uint32, n int) error {
	sent := make(chan error, 1)
	go func() { sent <- p.ask(first, n) }() // beside: a server may wait for its answers to be read
	if err := p.answers(first, n); err != nil {
		_ = p.socket.Close()
		return errors.Join(err, unlessClosed(<-sent))
	}
	return <-sent
}

// unlessClosed drops the error of a write that was given up.
func unlessClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// silent says that nothing comes for a while, and is nil then.
func (p *peer) silent(while time.Duration) error {
	msg, err := p.receive(while)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil {
		return err
	}
	h, _ := message.Parse(msg)
	return fmt.Errorf("an answer to message %d came that was not due", h.Seq)
}

// hangUp ends this peer's sending side.
func (p *peer) hangUp() error {
	if c, ok := p.conn.(*tls.Conn); ok {
		if err := c.CloseWrite(); err != nil {
			return err
		}
	}
	return p.socket.(*net.TCPConn).CloseWrite()
}

// reset closes the connection so that the kernel sends a reset.
func (p *peer) reset() {
	_ = p.socket.(*net.TCPConn).SetLinger(0)
	_ = p.socket.Close()
}

func (p *peer) close() { _ = p.socket.Close() }

// silence puts a time-out into words.
func silence(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("silence for %v: %w", patience, err)
	}
	return err
}
