package doctor

import (
	"path/filepath"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

// Demand is what a matrix asks of the machine at most.
type Demand struct {
	Clients     int      // connections to one server
	Connections int      // held by one process: a load talks to all contenders of a trial, a colocated process has both ends
	Buffer      int      // socket buffer asked for, bytes
	InFlight    int      // bytes on one stream at a time
	Server      []int    // CPU sets; empty: any
	Load        []int    // likewise
	Plugins     []string // absolute paths of the executables
}

// DatagramBuffer is the socket buffer that windows of datagrams want, bytes.
const DatagramBuffer = 4 << 20

// Reference is asked where no matrix says what is: sixteen clients of two
// contenders, with windows of sixteen messages of 16 KiB, over udp too.
func Reference(allowed []int) Demand {
	d := Demand{Clients: 16, Connections: 32, Buffer: DatagramBuffer, InFlight: 16 * 16 << 10}
	d.place(matrix.CPUs{Mode: matrix.CPUsAuto}, allowed)
	return d
}

// DemandOf adds up a matrix on a machine of which the CPUs allowed may be used.
func DemandOf(m *matrix.Matrix, allowed []int) Demand {
	var d Demand
	d.place(m.CPUs, allowed)
	for _, r := range m.Runtimes {
		if path, err := filepath.Abs(r.Path); err == nil {
			d.Plugins = append(d.Plugins, path)
		}
	}
	for _, s := range m.Suites {
		d.Buffer = max(d.Buffer, s.SendBuffer, s.ReceiveBuffer)
		for _, t := range matrix.Schedule(s, s.Cells, 1, 0) {
			d.add(t)
		}
	}
	return d
}

// place is nothing where processes cannot be bound to CPUs.
func (d *Demand) place(c matrix.CPUs, allowed []int) {
	if sysinfo.Placement {
		d.Server, d.Load = c.Sets(allowed)
	}
}

func (d *Demand) add(t matrix.Trial) {
	c := t.Scenario
	d.Clients = max(d.Clients, c.Clients)
	if c.Placement == cell.Colocated {
		d.Connections = max(d.Connections, 2*c.Clients)
	} else {
		servers := len(t.Contenders)
		if t.Twin != (cell.Contender{}) {
			servers++
		}
		d.Connections = max(d.Connections, servers*c.Clients)
	}
	if c.Protocol == "udp" {
		d.Buffer = max(d.Buffer, DatagramBuffer)
		return
	}
	d.InFlight = max(d.InFlight, c.Window*c.Payload)
}
