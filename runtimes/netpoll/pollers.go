package netpoll

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/cloudwego/netpoll"
)

// process is what the library was told. Its pollers belong to the process and
// closing some would orphan their connections, so they are set up once.
var process struct {
	mu      sync.Mutex
	pollers int // 0: not yet
}

// setUp starts the pollers, or finds that they run already.
func setUp(pollers int) error {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.pollers == pollers {
		return nil
	}
	if process.pollers != 0 {
		return fmt.Errorf("netpoll runs with %d pollers in this process and cannot change to %d: start a new process",
			process.pollers, pollers)
	}
	err := netpoll.Configure(netpoll.Config{
		PollerNum:    pollers,
		LoadBalance:  netpoll.RoundRobin,
		Runner:       inline,
		LoggerOutput: io.Discard, // it reports what peers do; sessions are told in Close
	})
	if err != nil {
		return fmt.Errorf("set up netpoll with %d pollers: %w", pollers, err)
	}
	netpoll.Initialize()
	process.pollers = pollers
	return nil
}

// inline runs callbacks on the poller itself. By default each would be handed
// to a goroutine of a pool, which is neither of the two executions.
func inline(_ context.Context, f func()) { f() }
