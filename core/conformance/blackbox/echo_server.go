package blackbox

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/transport"
)

// echoServer is a server of package net for loads to talk to: the session that
// every plugin of this repository runs, over blocking connections.
type echoServer struct {
	echo *echo.Server
	addr string
	// spoil has the last byte of the next answer flipped.
	spoil atomic.Bool
}

// listen starts an echo server for the protocol of the combination.
func (e *env) listen() (*echoServer, error) {
	s := &echoServer{echo: echo.NewServer(echo.Config{Protocol: e.protocol})}
	if e.protocol.Datagram {
		c, err := net.ListenPacket(e.protocol.Network, "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		e.owns(c)
		s.addr = c.LocalAddr().String()
		go s.datagrams(c)
		return s, nil
	}
	ln, err := net.Listen(e.protocol.Network, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e.owns(ln)
	s.addr = ln.Addr().String()
	if e.protocol.TLS {
		pair, err := tls.X509KeyPair(e.certs.Cert, e.certs.Key)
		if err != nil {
			return nil, err
		}
		ln = tls.NewListener(ln, &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		})
	}
	go s.accept(e, ln)
	return s, nil
}

func (s *echoServer) accept(e *env, ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return // the rule is over
		}
		e.owns(c)
		go s.stream(c)
	}
}

// stream is one connection, until the session or the peer ends it.
func (s *echoServer) stream(c net.Conn) {
	defer c.Close()
	session := s.echo.Session()
	out, err := session.Open(nil)
	for in := make([]byte, 64<<10); ; {
		if _, sendErr := c.Write(out); sendErr != nil || err != nil {
			break
		}
		var n int
		if n, err = c.Read(in); err != nil {
			break
		}
		out, err = s.data(session, in[:n])
	}
	if errors.Is(err, transport.ErrDone) {
		err = nil
	}
	session.Close(err)
}

func (s *echoServer) datagrams(c net.PacketConn) {
	session := s.echo.Session()
	if _, err := session.Open(nil); err != nil {
		return
	}
	for in := make([]byte, 64<<10); ; {
		n, from, err := c.ReadFrom(in)
		if err != nil {
			session.Close(nil)
			return
		}
		if out, err := s.data(session, in[:n]); err == nil {
			_, _ = c.WriteTo(out, from)
		}
	}
}

// data is the session's Data, spoilt once if that was asked for.
func (s *echoServer) data(session transport.Session, in []byte) ([]byte, error) {
	before := s.messages()
	out, err := session.Data(in, nil)
	if len(out) > 0 && s.messages() > before && s.spoil.CompareAndSwap(true, false) {
		out[len(out)-1] ^= 1
	}
	return out, err
}

func (s *echoServer) messages() int64 { return s.echo.Counts().Messages }
