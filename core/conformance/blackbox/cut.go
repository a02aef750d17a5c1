package blackbox

import (
	"math/rand/v2"
	"net"
	"runtime"
)

// cut says how many of the bytes left the next write to a socket takes. What a
// plugin's reads then bring is up to two kernels; that they are not always
// whole messages is certain.
type cut func(left int) int

func byteAtATime(int) int { return 1 }

// randomly cuts at seeded random places.
func randomly() cut {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(left int) int { return 1 + rng.IntN(min(left, 400)) }
}

// cutConn is a connection whose writes are cut.
type cutConn struct {
	net.Conn
	cut cut
}

func (c *cutConn) Write(b []byte) (n int, err error) {
	for n < len(b) {
		k, err := c.Conn.Write(b[n : n+c.cut(len(b)-n)])
		n += k
		if err != nil {
			return n, err
		}
		runtime.Gosched()
	}
	return n, nil
}
