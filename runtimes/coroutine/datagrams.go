package coroutine

import (
	"net"

	"github.com/netmatrix/netmatrix/core/transport/sockets"
)

// datagrams is the line over a UDP socket.
type datagrams struct {
	*sockets.Datagrams
}

var _ line = datagrams{}

func newDatagrams(socket *net.UDPConn, size int, dialled bool) datagrams {
	return datagrams{sockets.NewDatagrams(socket, size, dialled)}
}

func (d datagrams) Read(in []byte) (int, error) {
	n, from, err := d.Receive(in)
	if err := d.Note(from, err); err != nil {
		return 0, err
	}
	return n, nil
}

func (d datagrams) send(out []byte) error { return d.Send(out) }

func (d datagrams) linger() {}

func (d datagrams) wait() error { return nil }
