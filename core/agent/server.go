package agent

import (
	"cmp"
	"fmt"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// server is the listening side of a prepared agent.
type server struct {
	echo      *echo.Server
	group     transport.Group
	datagrams bool
}

func listen(rt transport.Runtime, p protocol.Protocol, s control.Setup) (*server, error) {
	cfg := echo.Config{Protocol: p, Work: s.Cell.Work}
	if s.Cell.Pattern == cell.Batch {
		cfg.Batch = s.Cell.Window
	}
	srv := &server{echo: echo.NewServer(cfg), datagrams: p.Datagram}
	session := srv.echo.Session
	if p.TLS {
		tc, err := serverTLS(s)
		if err != nil {
			return nil, err
		}
		session = func() transport.Session { return tlslayer.Server(srv.echo.Session(), tc) }
	}
	c := config(p, s)
	c.Address = loopback(s.Cell.AddressFamily)
	c.Execution = s.Cell.Execution
	var err error
	if srv.group, err = rt.Listen(c, session); err != nil {
		return nil, fmt.Errorf("listen at %s: %w", c.Address, err)
	}
	return srv, nil
}

// Socket buffers that datagrams ask for where the trial says nothing, bytes. One
// socket takes what all clients have in flight, and what it has no room for is
// lost; for sending, room for one of the largest is enough on every system.
const (
	datagramSend    = 64 << 10
	datagramReceive = 4 << 20
)

// config is what both sides of a trial tell the runtime.
func config(p protocol.Protocol, s control.Setup) transport.Config {
	c := transport.Config{
		Network:       p.Network,
		Execution:     s.Cell.Execution,
		IOModel:       s.IOModel,
		Threads:       s.Threads,
		SendBuffer:    s.Send,
		ReceiveBuffer: s.Receive,
		Clock:         clock(),
	}
	if p.Datagram {
		c.DatagramBytes = s.Cell.Payload + p.Overhead
		c.SendBuffer = cmp.Or(c.SendBuffer, datagramSend)
		c.ReceiveBuffer = cmp.Or(c.ReceiveBuffer, datagramReceive)
	}
	return c
}

// loopback is the literal address of this machine: a name would have to be
// looked up, and the unspecified address cannot be dialled everywhere.
func loopback(family string) string {
	if family == cell.IPv6 {
		return "[::1]:0"
	}
	return "127.0.0.1:0"
}
