package sockets

import (
	"cmp"
	"fmt"
	"time"
	"unsafe"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Prepare fills in what c leaves open and every runtime takes alike, network,
// address and clock, and refuses what the contract has no word for. What a
// runtime lacks it refuses itself.
func Prepare(c transport.Config) (transport.Config, error) {
	c.Network = cmp.Or(c.Network, "tcp")
	c.Address = cmp.Or(c.Address, "127.0.0.1:0")
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() int64 { return int64(time.Since(start)) }
	}
	switch {
	case c.Network != "tcp" && c.Network != "udp":
		return c, fmt.Errorf("network %q is neither tcp nor udp", c.Network)
	case c.Execution != "" && c.Execution != "callback" && c.Execution != "goroutine":
		return c, fmt.Errorf("execution %q is neither callback nor goroutine", c.Execution)
	case c.IOModel != "" && c.IOModel != "shared" && c.IOModel != "sharded":
		return c, fmt.Errorf("IO model %q is neither shared nor sharded", c.IOModel)
	case min(c.Threads, c.SendBuffer, c.ReceiveBuffer, c.ReadBuffer, c.DatagramBytes) < 0:
		return c, fmt.Errorf("threads %d, send buffer %d, receive buffer %d, read buffer %d, datagrams of %d bytes: none may be negative",
			c.Threads, c.SendBuffer, c.ReceiveBuffer, c.ReadBuffer, c.DatagramBytes)
	}
	return c, nil
}

// Overlap reports whether a and b share memory: a session may answer with a
// slice of its input, which must not become its next output buffer.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&a[0])) <= uintptr(unsafe.Pointer(&b[len(b)-1])) &&
		uintptr(unsafe.Pointer(&b[0])) <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}
