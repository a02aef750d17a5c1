// Package netpoll is the runtime over cloudwego/netpoll. In callback execution
// a session runs on the poller that reported its connection; in goroutine
// execution a goroutine per connection waits in the library's blocking Reader.
//
// It knows the library, the sockets it takes and the order of a session's
// calls. It must not know what the bytes mean.
package netpoll

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
)

// Runtime moves bytes with cloudwego/netpoll. The library has one set of
// pollers for the whole process, so all Runtimes share theirs.
type Runtime struct{}

var _ transport.Runtime = (*Runtime)(nil)

// New returns the runtime.
func New() *Runtime { return &Runtime{} }

// Info implements transport.Runtime.
func (*Runtime) Info() transport.Info {
	return transport.Info{
		Name:    "netpoll",
		Version: version(),
		Models: map[string]string{
			"shared":  "one poller, which is one goroutine on one epoll or kqueue descriptor, GOMAXPROCS N",
			"sharded": "N pollers, connections given to them in turn, GOMAXPROCS N",
		},
		ReadsOn: "the library reads whatever a poller reports and offers no way to stop it",
		Lacks: []transport.Lack{
			{Axis: "protocol", Value: "udp", Why: "the library has none"},
			{Axis: "load_wait", Value: "busy", Why: "the library's pollers sleep in the kernel and cannot be told to poll instead"},
		},
	}
}

// version is that of the library, as it was built in; a test binary cannot tell.
func version() string {
	const module = "github.com/cloudwego/netpoll"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return module + "@" + d.Version
			}
		}
	}
	return module + "@unknown"
}

// Listen implements transport.Runtime.
func (*Runtime) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	c, err := prepare(c)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	ln, err := listen(c)
	if err != nil {
		return nil, err // says what, where and why
	}
	g := newGroup(c)
	g.serve(ln, session)
	return g, nil
}

// Dial implements transport.Runtime.
func (*Runtime) Dial(c transport.Config, addrs []string, sessions []transport.Session) (transport.Group, error) {
	c, err := prepare(c)
	if err == nil && c.Busy {
		err = errors.New("netpoll cannot poll for input without sleeping; use load_wait sleep")
	}
	g := newGroup(c)
	if err == nil {
		err = g.dial(addrs, sessions)
	}
	if err != nil {
		err = fmt.Errorf("dial: %w", err)
		for _, s := range sessions {
			s.Close(err)
		}
		return nil, err
	}
	return g, nil
}

// prepare fills in what c leaves open, refuses what this runtime lacks and sets
// up the pollers. ReadBuffer stays unused: the library sizes its reads itself,
// from 8 KiB to 8 MiB, by doubling whenever one came back full.
func prepare(c transport.Config) (transport.Config, error) {
	if c.Network != "" && c.Network != "tcp" {
		return c, fmt.Errorf("network %s: netpoll carries tcp only", c.Network)
	}
	switch c.Execution {
	case "":
		c.Execution = "callback"
	case "callback", "goroutine":
	default:
		return c, fmt.Errorf("execution %s: netpoll has callback and goroutine", c.Execution)
	}
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() int64 { return int64(time.Since(start)) }
	}
	pollers := 1
	if c.IOModel == "sharded" {
		pollers = max(c.Threads, 1)
	}
	return c, setUp(pollers)
}
