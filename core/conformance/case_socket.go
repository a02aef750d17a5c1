package conformance

import (
	"net"
	"syscall"

	"github.com/netmatrix/netmatrix/core/transport"
)

var socketCases = []Case{
	{Name: "NoDelay", Rule: "sets TCP_NODELAY on both ends", Run: setsNoDelay},
	{Name: "Buffers", Rule: "asks for the socket buffers it was told to", Run: asksForBuffers},
}

// bothEnds opens one accepted and one dialled connection with c and looks up
// an option of each socket.
func (e *Env) bothEnds(c transport.Config, level, option int) map[string]int {
	e.Helper()
	found := map[string]int{}
	look := func(end, local, remote string) {
		value, ok := socketOption(local, remote, level, option)
		if !ok {
			e.Fatalf("no socket of this process runs from %s to %s", local, remote)
		}
		found[end] = value
	}
	g := e.listen(c, func() script { return echo })
	p := e.peer(g.Addrs()[0])
	if err := exchange(p, []byte("x")); err != nil {
		e.Fatalf("%v", err)
	}
	look("accepted", p.RemoteAddr().String(), p.LocalAddr().String())

	remote := make(chan string, 1)
	addr := e.accept(1, func(_ int, c *net.TCPConn) error {
		remote <- c.RemoteAddr().String()
		return expectEnd(c, nil)
	})
	d := e.dial(c, []string{addr}, script{})
	look("dialled", <-remote, addr)
	d.Close()
	return found
}

func setsNoDelay(e *Env) {
	for end, on := range e.bothEnds(e.config(), syscall.IPPROTO_TCP, syscall.TCP_NODELAY) {
		if on == 0 {
			e.Errorf("TCP_NODELAY is off at the %s end", end)
		}
	}
}

// asksForBuffers: kernels round what they grant, and Linux doubles it for its
// own book-keeping.
func asksForBuffers(e *Env) {
	c := e.config()
	c.SendBuffer, c.ReceiveBuffer = 40<<10, 24<<10
	for _, b := range []struct {
		name   string
		option int
		asked  int
	}{
		{"send", syscall.SO_SNDBUF, c.SendBuffer},
		{"receive", syscall.SO_RCVBUF, c.ReceiveBuffer},
	} {
		for end, got := range e.bothEnds(c, syscall.SOL_SOCKET, b.option) {
			if got < b.asked || got > 2*b.asked {
				e.Errorf("the %s buffer is %d bytes at the %s end where %d were asked for", b.name, got, end, b.asked)
			}
		}
	}
}
