package doctor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/sysinfo"
)

const (
	// leastMemory leaves room for two ends with all that may be in flight.
	leastMemory = 2*cell.MaxInFlight + 512<<20
	// spareFiles are those of a process that are no connections.
	spareFiles = 64
)

func memory(s Subject) Finding {
	m := s.Memory
	switch {
	case m == nil:
		return untold()
	case m.Available < leastMemory:
		return warning("%s left, of which a trial may need %s", mebibytes(m.Available), mebibytes(leastMemory)).
			mend("end what takes most:").run("ps -eo rss,pid,comm --sort=-rss | head")
	case m.SwapUsed > 0:
		return note("%s left, but %s are swapped out", mebibytes(m.Available), mebibytes(m.SwapUsed)).
			mend("bring them back:").run("sudo swapoff -a && sudo swapon -a")
	}
	return ok("%s left, nothing swapped out", mebibytes(m.Available))
}

func openFiles(s Subject) Finding {
	need := uint64(s.Demand.Connections + spareFiles)
	have := fmt.Sprintf("%s a process, %s at most", files(s.Files.Soft), files(s.Files.Hard))
	switch {
	case s.Files.Hard == 0:
		return untold()
	case s.Files.Hard < need:
		return warning("%s; the largest trial needs %d", have, need).
			mend("raise both limits of this shell:").
			run("sudo prlimit --pid $$ --nofile=%d:%[1]d", need)
	case s.Files.Soft < need:
		return note("%s; the largest trial needs %d", have, need).
			mend("plugins in Go raise their limit themselves; for others raise that of this shell:").
			run("ulimit -S -n %d", need)
	}
	return ok("%s; the largest trial needs %d", have, need)
}

func files(n uint64) string {
	if n >= math.MaxInt64 {
		return "any number"
	}
	return strconv.FormatUint(n, 10)
}

func ports(s Subject) Finding {
	r := s.sysctl(sysinfo.PortRange, 2)
	if r == nil {
		return untold()
	}
	const mending = `sudo sysctl -w net.ipv4.ip_local_port_range="10240 65535"`
	have, need := r[1]-r[0]+1, int64(s.Demand.Clients)
	switch {
	case have < need:
		return warning("%d, and the largest trial has %d clients", have, need).
			mend("widen the range:").run(mending)
	case have < 2*need:
		return note("%d, of which %d clients take more than half: the search for a free one slows dialling down", have, need).
			mend("widen the range:").run(mending)
	}
	return ok("%d, and the largest trial has %d clients", have, need)
}

func socketBuffers(s Subject) Finding {
	receive, send := s.sysctl(sysinfo.ReceiveBufferMax, 1), s.sysctl(sysinfo.SendBufferMax, 1)
	if receive == nil || send == nil {
		return untold()
	}
	want := int64(s.Demand.Buffer)
	have := min(receive[0], send[0])
	mending := []any{sysinfo.ReceiveBufferMax, max(want, DatagramBuffer), sysinfo.SendBufferMax, max(want, DatagramBuffer)}
	const line = "sudo sysctl -w %s=%d %s=%d"
	switch {
	case have < want:
		return warning("at most %s, and the matrix wants %s", size(have), size(want)).
			mend("allow more:").run(line, mending...)
	case have < DatagramBuffer:
		return note("at most %s; udp would want %s, but the matrix has none", size(have), size(DatagramBuffer)).
			mend("before udp is measured, allow more:").run(line, mending...)
	}
	if want == 0 {
		return ok("at most %s, and the matrix leaves them to the kernel", size(have))
	}
	return ok("at most %s, and the matrix wants %s", size(have), size(want))
}

func tcpBuffers(s Subject) Finding {
	receive, send := s.sysctl(sysinfo.TCPReceive, 3), s.sysctl(sysinfo.TCPSend, 3)
	if receive == nil || send == nil {
		return untold()
	}
	have, need := receive[2]+send[2], int64(s.Demand.InFlight)
	if have < need {
		return warning("%s and %s at most, and a window is up to %s", size(receive[2]), size(send[2]), size(need)).
			mend("allow more:").
			run("sudo sysctl -w %s='%d %d %d' %s='%d %d %d'",
				sysinfo.TCPReceive, receive[0], receive[1], need, sysinfo.TCPSend, send[0], send[1], need)
	}
	return ok("%s and %s at most, and a window is up to %s", size(receive[2]), size(send[2]), size(need))
}

func backlog(s Subject) Finding {
	r := s.sysctl(sysinfo.ListenBacklog, 1)
	switch have, need := r, int64(s.Demand.Clients); {
	case have == nil:
		return untold()
	case have[0] < need:
		return warning("%d connections wait at most, and the largest trial has %d clients", have[0], need).
			mend("let more wait:").run("sudo sysctl -w %s=%d", sysinfo.ListenBacklog, need)
	default:
		return ok("%d connections wait at most, and the largest trial has %d clients", have[0], need)
	}
}

// sysctl is a setting of n numbers; nil: unknown.
func (s Subject) sysctl(name string, n int) []int64 {
	if numbers := s.Machine.Settings.Sysctl[name]; len(numbers) == n {
		return numbers
	}
	return nil
}
