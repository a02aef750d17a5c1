//go:build !race

package rawpoll

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/transport"
)

// TestSteadyStateAllocatesNothing counts over whole exchanges through real
// sockets; what remains is the one wake-up of each exchange. (Under the race
// detector a sync.Pool drops things on purpose.)
func TestSteadyStateAllocatesNothing(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) { allocatesNothing(t, c) })
}

func TestDatagramsAllocateNothing(t *testing.T) {
	setups(t, func(t *testing.T, c transport.Config) {
		c.Network = udp
		allocatesNothing(t, c)
	})
}

func allocatesNothing(t *testing.T, c transport.Config) {
	g, windows := pair(t, c, 4, 8, 1024)
	const messages = 2000
	exchange(g, windows, messages)
	allocs := testing.AllocsPerRun(5, func() { exchange(g, windows, messages) })
	if perMessage := allocs / (4 * messages); perMessage > 0.01 {
		t.Errorf("%.3f allocations a message, want 0", perMessage)
	}
}
