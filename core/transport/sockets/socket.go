package sockets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/netmatrix/netmatrix/core/transport"
)

// What package net does by itself stays as it is: TCP_NODELAY on, keep-alive
// probes on, address reuse on, the system's longest accept queue.

func listen(c transport.Config) (*net.TCPListener, error) {
	lc := net.ListenConfig{Control: control(c)} // accepted sockets inherit the buffers
	lc.SetMultipathTCP(false)                   // on by default, and not what the other runtimes listen with
	ln, err := lc.Listen(context.Background(), "tcp", c.Address)
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

// listenDatagrams returns a socket that takes datagrams.
func listenDatagrams(c transport.Config) (*net.UDPConn, error) {
	lc := net.ListenConfig{Control: control(c)}
	pc, err := lc.ListenPacket(context.Background(), "udp", c.Address)
	if err != nil {
		return nil, err
	}
	return pc.(*net.UDPConn), nil
}

// dialAll connects n sockets, one after another. It returns all or none.
func dialAll(c transport.Config, addrs []string, n int) (_ []net.Conn, err error) {
	if len(addrs) == 0 && n > 0 {
		return nil, errors.New("no address to connect to")
	}
	sockets := make([]net.Conn, 0, n)
	defer func() {
		if err != nil {
			for _, s := range sockets {
				s.Close()
			}
		}
	}()
	d := net.Dialer{Control: control(c)}
	for i := range n {
		s, err := d.Dial(c.Network, addrs[i%len(addrs)])
		if err != nil {
			return nil, fmt.Errorf("connection %d of %d: %w", i+1, n, err)
		}
		sockets = append(sockets, s)
	}
	return sockets, nil
}

// granted are the buffers of a socket, in bytes as the kernel counts them; 0 where
// it does not say.
func granted(socket any) (send, receive int) {
	conn, ok := socket.(syscall.Conn)
	if !ok {
		return 0, 0
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0
	}
	_ = raw.Control(func(fd uintptr) {
		send, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		receive, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	})
	return send, receive
}

// control sets the socket buffers before listen or connect, where the receive
// buffer still decides the window scale. It is nil when none are asked for.
func control(c transport.Config) func(network, address string, raw syscall.RawConn) error {
	if c.SendBuffer == 0 && c.ReceiveBuffer == 0 {
		return nil
	}
	return func(_, _ string, raw syscall.RawConn) error {
		var err error
		set := func(fd uintptr) {
			err = errors.Join(
				setBuffer(fd, syscall.SO_SNDBUF, c.SendBuffer),
				setBuffer(fd, syscall.SO_RCVBUF, c.ReceiveBuffer))
		}
		return errors.Join(raw.Control(set), err)
	}
}

func setBuffer(fd uintptr, option, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return os.NewSyscallError("setsockopt", syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, bytes))
}
