package conformance

import (
	"strings"
	"sync/atomic"

	"github.com/netmatrix/netmatrix/core/transport"
)

var refusalCases = []Case{
	{Name: "Lacks", Rule: "refuses what its Info says it cannot do, with an error that names it", Run: refusesLacks},
	{Name: "Unknown", Rule: "refuses what the contract has no word for, with an error that names it", Run: refusesUnknown},
	{Name: "BusyLacking", Rule: "refuses to dial without sleeping where its Info says that it sleeps", Run: refusesBusy},
}

// refusesLacks: a runtime that takes what it cannot do measures something else.
func refusesLacks(e *Env) {
	for _, l := range e.Runtime.Info().Lacks {
		if l.Why == "" {
			e.Errorf("Info gives no reason why it cannot do %s %s", l.Axis, l.Value)
		}
		c := e.config()
		switch {
		case l.Axis == "execution":
			c.Execution = l.Value
		case l.Axis == "io_model":
			c.IOModel, c.Threads = l.Value, 2
		case l.Axis == "protocol" && l.Value == "udp":
			c.Network = l.Value
		default:
			continue // not the runtime's to refuse
		}
		e.refusesListen(c, l.Value)
		e.refusesDial(c, l.Value)
	}
}

func refusesUnknown(e *Env) {
	for word, set := range map[string]func(*transport.Config){
		"unix":     func(c *transport.Config) { c.Network = "unix" },
		"fiber":    func(c *transport.Config) { c.Execution = "fiber" },
		"proactor": func(c *transport.Config) { c.IOModel = "proactor" },
		"-2":       func(c *transport.Config) { c.Threads = -2 },
		"-3":       func(c *transport.Config) { c.SendBuffer = -3 },
		"-4":       func(c *transport.Config) { c.ReceiveBuffer = -4 },
		"-5":       func(c *transport.Config) { c.ReadBuffer = -5 },
		"-6":       func(c *transport.Config) { c.DatagramBytes = -6 },
	} {
		c := e.config()
		set(&c)
		e.refusesListen(c, word)
		e.refusesDial(c, word)
	}
	c := e.config()
	c.Address = "localhost" // and no port
	e.refusesListen(c, c.Address)
}

func refusesBusy(e *Env) {
	if !lacks(e.Runtime.Info(), "load_wait", "busy") {
		return
	}
	c := e.config()
	c.Busy = true
	e.refusesDial(c, "busy")
}

// refusesListen wants an error with word in it.
func (e *Env) refusesListen(c transport.Config, word string) {
	e.Helper()
	g, err := e.Runtime.Listen(c, func() transport.Session { return e.ledger.session(echo) })
	switch {
	case err == nil:
		e.opened(g)
		e.Errorf("Listen took %s", word)
	case !strings.Contains(err.Error(), word):
		e.Errorf("Listen refused %s without naming it: %v", word, err)
	}
}

// refusesDial wants an error with word in it, and for every session its Close.
func (e *Env) refusesDial(c transport.Config, word string) {
	e.Helper()
	const sessions = 3
	g := e.serve(echo)
	defer g.Close()
	var closed, told atomic.Int64 // a Dial that is not refused closes side by side
	mine := script{close: func(err error) {
		closed.Add(1)
		if err != nil {
			told.Add(1)
		}
	}}
	d, err := e.Runtime.Dial(c, g.Addrs(), e.sessions([]script{mine, mine, mine}))
	if err == nil {
		e.opened(d)
		e.Errorf("Dial took %s", word)
		return
	}
	if !strings.Contains(err.Error(), word) {
		e.Errorf("Dial refused %s without naming it: %v", word, err)
	}
	if closed.Load() != sessions || told.Load() != sessions {
		e.Errorf("when Dial had refused %s, %d of %d sessions had their Close, %d of them with an error",
			word, closed.Load(), sessions, told.Load())
	}
}
