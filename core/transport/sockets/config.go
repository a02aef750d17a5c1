package sockets

import (
	"cmp"
	"time"
	"unsafe"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Defaults fills in what c leaves open and every runtime takes alike: network,
// address and clock.
func Defaults(c transport.Config) transport.Config {
	c.Network = cmp.Or(c.Network, "tcp")
	c.Address = cmp.Or(c.Address, "127.0.0.1:0")
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() int64 { return int64(time.Since(start)) }
	}
	return c
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
