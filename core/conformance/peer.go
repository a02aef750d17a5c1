package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Peers are plain blocking connections of package net: whatever the runtime
// under test does, they are the other end that everybody knows.

// peer connects to addr. The connection dies with the case.
func (e *Env) peer(addr string) *net.TCPConn {
	e.Helper()
	c, err := e.peerTo(addr)
	if err != nil {
		e.Fatalf("%v", err)
	}
	return c
}

func (e *Env) peerTo(addr string) (*net.TCPConn, error) {
	d := net.Dialer{Deadline: e.deadline}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("a peer could not connect: %w", err)
	}
	c.SetDeadline(e.deadline)
	e.atEnd(func() { c.Close() })
	return c.(*net.TCPConn), nil
}

// accept listens with package net and serves each connection with f.
func (e *Env) accept(conns int, f func(i int, c *net.TCPConn) error) (addr string) {
	e.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Fatalf("listen with package net: %v", err)
	}
	e.atEnd(func() { ln.Close() })
	ln.(*net.TCPListener).SetDeadline(e.deadline)
	for i := range conns {
		e.beside(func() error {
			c, err := ln.Accept()
			if err != nil {
				return fmt.Errorf("accept with package net: %w", err)
			}
			defer c.Close()
			c.SetDeadline(e.deadline)
			return f(i, c.(*net.TCPConn))
		})
	}
	return ln.Addr().String()
}

// text is n bytes that only this seed gives, so that bytes that went to the
// wrong place are seen.
func text(seed uint64, n int) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	b := make([]byte, n)
	rand.NewChaCha8(key).Read(b)
	return b
}

// send writes all of b beside the case.
func (e *Env) send(c *net.TCPConn, b []byte) (wait func()) {
	return e.beside(func() error {
		if _, err := c.Write(b); err != nil {
			return fmt.Errorf("a peer could not write: %w", err)
		}
		return nil
	})
}

// expect reads exactly want from c.
func expect(c io.Reader, want []byte) error {
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil {
		return fmt.Errorf("a peer got %d of %d bytes: %w", n, len(want), err)
	}
	return same(got, want)
}

// expectEnd reads exactly want from c and then the end of the stream.
func expectEnd(c io.Reader, want []byte) error {
	got, err := io.ReadAll(c)
	if err != nil {
		return fmt.Errorf("a peer got %d of %d bytes and then no clean end: %w", len(got), len(want), err)
	}
	if err := same(got, want); err != nil {
		return fmt.Errorf("a peer got to the end: %w", err)
	}
	return nil
}

func same(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d of %d differs: got %#x, want %#x", i, len(want), got[i], want[i])
		}
	}
	return nil
}

// exchange sends b and expects it back.
func exchange(c net.Conn, b []byte) error {
	if _, err := c.Write(b); err != nil {
		return fmt.Errorf("a peer could not write: %w", err)
	}
	return expect(c, b)
}

// pass lets the runtime go through its events for a while: it is over when
// some neighbours, at least one on each of its threads, have had rounds
// exchanges each. It stands where a sleep would be wrong. The neighbours are
// not in the case's book.
func (e *Env) pass(rounds int) {
	e.Helper()
	neighbours := &ledger{}
	g, err := e.Runtime.Listen(e.config(), func() transport.Session { return neighbours.session(echo) })
	if err != nil {
		e.Fatalf("listen beside an open group: %v", err)
	}
	defer e.opened(g).Close()
	e.each(2*e.Variant.Threads, func(i int) error {
		c, err := e.peerTo(g.Addrs()[0])
		if err != nil {
			return err
		}
		defer c.Close()
		for k := range rounds {
			if err := exchange(c, text(uint64(k), 64)); err != nil {
				return err
			}
		}
		return nil
	})
}
