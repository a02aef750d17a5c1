package rawpoll

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

const (
	backlog     = 4096
	dialTimeout = 5 * time.Second
)

// resolve turns host:port into an address. An empty host stands for all of IPv4.
func resolve(address string) (netip.AddrPort, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if a.IP == nil {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(a.Port)), nil
	}
	ap := a.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// socket is one that listens or is connected.
type socket struct {
	fd    int
	local string
	peer  netip.AddrPort // zero of one that listens
}

func (s socket) close() { closeSocket(s.fd) }

// buffers are the socket buffers that the kernel granted, in bytes as it counts
// them; 0 where it does not say.
func (s socket) buffers() (send, receive int) {
	send, _ = unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	receive, _ = unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return send, receive
}

// listenSocket returns a socket that takes connections, or datagrams, at
// c.Address.
func listenSocket(c transport.Config) (_ socket, err error) {
	address := c.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("listen %s: %w", address, err)
		}
	}()
	ap, err := resolve(address)
	if err != nil {
		return socket{}, err
	}
	fd, err := newSocket(ap, c)
	if err != nil {
		return socket{}, err
	}
	if c.Network == udp { // reuse would let a second socket take the first one's datagrams
		err = os.NewSyscallError("bind", unix.Bind(fd, sockaddr(ap)))
	} else {
		err = listenStream(fd, ap)
	}
	if err != nil {
		closeSocket(fd)
		return socket{}, err
	}
	return socket{fd: fd, local: localAddr(fd).String()}, nil
}

func listenStream(fd int, ap netip.AddrPort) error {
	err := errors.Join(
		os.NewSyscallError("setsockopt SO_REUSEADDR", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)),
		os.NewSyscallError("bind", unix.Bind(fd, sockaddr(ap))),
	)
	if err == nil {
		err = os.NewSyscallError("listen", unix.Listen(fd, backlog))
	}
	return err
}

// dialSockets connects n sockets, one after the other, to addrs in turn: all or
// none.
func dialSockets(c transport.Config, addrs []string, n int) (sockets []socket, err error) {
	if len(addrs) == 0 && n > 0 {
		return nil, errors.New("dial: no address to dial")
	}
	peers := make([]netip.AddrPort, len(addrs))
	for i, addr := range addrs {
		if peers[i], err = resolve(addr); err != nil {
			return nil, fmt.Errorf("dial %s: %w", addr, err)
		}
	}
	for i := range n {
		peer := peers[i%len(peers)]
		fd, err := connect(c, peer)
		if err != nil {
			for _, sock := range sockets {
				sock.close()
			}
			return nil, fmt.Errorf("dial %s, connection %d of %d: %w", peer, i+1, n, err)
		}
		sockets = append(sockets, socket{fd, localAddr(fd).String(), peer})
	}
	return sockets, nil
}

func connect(c transport.Config, peer netip.AddrPort) (int, error) {
	fd, err := newSocket(peer, c)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(fd, sockaddr(peer))
	if err == unix.EINPROGRESS || err == unix.EINTR {
		err = connected(fd)
	}
	if err != nil {
		closeSocket(fd)
		return -1, os.NewSyscallError("connect", err)
	}
	return fd, nil
}

// connected waits until a connect in progress has succeeded. On loopback that
// is the case before the first look.
func connected(fd int) error {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	deadline := time.Now().Add(dialTimeout)
	for {
		n, err := unix.Poll(poll, int(time.Until(deadline).Milliseconds())+1)
		switch {
		case err == unix.EINTR && time.Now().Before(deadline):
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		default:
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err != nil {
				return err
			}
			if code != 0 {
				return unix.Errno(code)
			}
			return nil
		}
	}
}

// newSocket returns a socket of the family of ap with the options of every end.
// Buffer sizes must be set before connect or listen to count for the window.
func newSocket(ap netip.AddrPort, c transport.Config) (int, error) {
	family := unix.AF_INET
	if ap.Addr().Is6() {
		family = unix.AF_INET6
	}
	kind := unix.SOCK_STREAM
	if c.Network == udp {
		kind = unix.SOCK_DGRAM
	}
	fd, err := openSocket(family, kind)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if kind == unix.SOCK_STREAM {
		err = noDelay(fd)
	}
	if c.SendBuffer > 0 {
		err = errors.Join(err, os.NewSyscallError("setsockopt SO_SNDBUF",
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, c.SendBuffer)))
	}
	if c.ReceiveBuffer > 0 {
		err = errors.Join(err, os.NewSyscallError("setsockopt SO_RCVBUF",
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, c.ReceiveBuffer)))
	}
	if err != nil {
		closeSocket(fd)
		return -1, err
	}
	return fd, nil
}

func noDelay(fd int) error {
	return os.NewSyscallError("setsockopt TCP_NODELAY", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
}

func sockaddr(ap netip.AddrPort) unix.Sockaddr {
	if ap.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
	}
	zone := uint32(0)
	if ifi, err := net.InterfaceByName(ap.Addr().Zone()); err == nil {
		zone = uint32(ifi.Index)
	}
	return &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16(), ZoneId: zone}
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

func localAddr(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(sa)
}

func closeSocket(fd int) { unix.Close(fd) }
