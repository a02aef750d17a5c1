package goplugin

import (
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	pb "github.com/netmatrix/netmatrix/core/goplugin/proto"
	"github.com/netmatrix/netmatrix/core/transport"
)

// The conversions read protobuf through its getters, which take a missing
// message for an empty one: what a foreign plugin leaves out is zero here.

// each converts a list; an empty one becomes nil.
func each[A, B any](in []A, convert func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = convert(a)
	}
	return out
}

func descriptionToProto(d control.Description) *pb.Description {
	return &pb.Description{
		Info: &pb.Info{
			Name:    d.Info.Name,
			Version: d.Info.Version,
			Models:  d.Info.Models,
			ReadsOn: d.Info.ReadsOn,
			Lacks: each(d.Info.Lacks, func(l transport.Lack) *pb.Lack {
				return &pb.Lack{Axis: l.Axis, Value: l.Value, Why: l.Why}
			}),
		},
		Roles:     d.Roles,
		Protocols: d.Protocols,
		Stack:     d.Stack,
		GoVersion: d.GoVersion,
		Source:    d.Source,
	}
}

func descriptionFromProto(d *pb.Description) control.Description {
	info := d.GetInfo()
	return control.Description{
		Info: transport.Info{
			Name:    info.GetName(),
			Version: info.GetVersion(),
			Models:  info.GetModels(),
			ReadsOn: info.GetReadsOn(),
			Lacks: each(info.GetLacks(), func(l *pb.Lack) transport.Lack {
				return transport.Lack{Axis: l.GetAxis(), Value: l.GetValue(), Why: l.GetWhy()}
			}),
		},
		Roles:     d.GetRoles(),
		Protocols: d.GetProtocols(),
		Stack:     d.GetStack(),
		GoVersion: d.GetGoVersion(),
		Source:    d.GetSource(),
	}
}

func cellToProto(c cell.Cell) *pb.Cell {
	return &pb.Cell{
		Runtime:       c.Runtime,
		Execution:     c.Execution,
		IoModel:       c.IOModel,
		Threads:       int64(c.Threads),
		Protocol:      c.Protocol,
		Payload:       int64(c.Payload),
		Clients:       int64(c.Clients),
		Window:        int64(c.Window),
		Work:          c.Work,
		Pattern:       c.Pattern,
		Placement:     c.Placement,
		Rate:          c.Rate,
		LoadWait:      c.LoadWait,
		AddressFamily: c.AddressFamily,
	}
}

func cellFromProto(c *pb.Cell) cell.Cell {
	return cell.Cell{
		Runtime:       c.GetRuntime(),
		Execution:     c.GetExecution(),
		IOModel:       c.GetIoModel(),
		Threads:       int(c.GetThreads()),
		Protocol:      c.GetProtocol(),
		Payload:       int(c.GetPayload()),
		Clients:       int(c.GetClients()),
		Window:        int(c.GetWindow()),
		Work:          c.GetWork(),
		Pattern:       c.GetPattern(),
		Placement:     c.GetPlacement(),
		Rate:          c.GetRate(),
		LoadWait:      c.GetLoadWait(),
		AddressFamily: c.GetAddressFamily(),
	}
}

func setupToProto(s control.Setup) *pb.Setup {
	return &pb.Setup{
		Role:    s.Role,
		Cell:    cellToProto(s.Cell),
		Threads: int64(s.Threads),
		IoModel: s.IOModel,
		Send:    int64(s.Send),
		Receive: int64(s.Receive),
		Ca:      s.CA,
		Cert:    s.Cert,
		Key:     s.Key,
		Targets: each(s.Targets, func(t control.Target) *pb.Target {
			return &pb.Target{Name: t.Name, Addrs: t.Addrs, Pid: int64(t.PID)}
		}),
		Gaps:      s.Gaps,
		Seed:      s.Seed,
		CheckAll:  s.CheckAll,
		Busy:      s.Busy,
		LossAfter: s.LossAfter,
		DrainFor:  s.DrainFor,
	}
}

func setupFromProto(s *pb.Setup) control.Setup {
	return control.Setup{
		Role:    s.GetRole(),
		Cell:    cellFromProto(s.GetCell()),
		Threads: int(s.GetThreads()),
		IOModel: s.GetIoModel(),
		Send:    int(s.GetSend()),
		Receive: int(s.GetReceive()),
		CA:      s.GetCa(),
		Cert:    s.GetCert(),
		Key:     s.GetKey(),
		Targets: each(s.GetTargets(), func(t *pb.Target) control.Target {
			return control.Target{Name: t.GetName(), Addrs: t.GetAddrs(), PID: int(t.GetPid())}
		}),
		Gaps:      s.GetGaps(),
		Seed:      s.GetSeed(),
		CheckAll:  s.GetCheckAll(),
		Busy:      s.GetBusy(),
		LossAfter: s.GetLossAfter(),
		DrainFor:  s.GetDrainFor(),
	}
}

func readyToProto(r control.Ready) *pb.Ready {
	return &pb.Ready{Addrs: r.Addrs, Send: int64(r.Send), Receive: int64(r.Receive), Tls: r.TLS}
}

func readyFromProto(r *pb.Ready) control.Ready {
	return control.Ready{Addrs: r.GetAddrs(), Send: int(r.GetSend()), Receive: int(r.GetReceive()), TLS: r.GetTls()}
}

func planToProto(plan []control.Slice) *pb.Plan {
	return &pb.Plan{Slices: each(plan, func(s control.Slice) *pb.Slice {
		return &pb.Slice{Target: int64(s.Target), Length: s.Length, Settle: s.Settle, Counted: s.Counted}
	})}
}

func planFromProto(p *pb.Plan) []control.Slice {
	return each(p.GetSlices(), func(s *pb.Slice) control.Slice {
		return control.Slice{Target: int(s.GetTarget()), Length: s.GetLength(), Settle: s.GetSettle(), Counted: s.GetCounted()}
	})
}

func resultToProto(r control.Result) *pb.Result {
	return &pb.Result{
		Slices: each(r.Slices, func(s control.Sample) *pb.Sample {
			return &pb.Sample{
				Start: s.Start, End: s.End,
				RoundTrips: s.RoundTrips, RttSum: s.RTTSum,
				ServerCpu: s.ServerCPU, Served: s.Served,
				LoadCpu: s.LoadCPU, Working: s.Working,
			}
		}),
		Targets: each(r.Targets, func(t control.Tally) *pb.Tally {
			return &pb.Tally{
				Rtt: t.RTT, Intended: t.Intended, Slip: t.Slip,
				MaxRtt: t.MaxRTT, Counts: t.Counts, FirstErrors: t.FirstErrors,
			}
		}),
	}
}

func resultFromProto(r *pb.Result) control.Result {
	return control.Result{
		Slices: each(r.GetSlices(), func(s *pb.Sample) control.Sample {
			return control.Sample{
				Start: s.GetStart(), End: s.GetEnd(),
				RoundTrips: s.GetRoundTrips(), RTTSum: s.GetRttSum(),
				ServerCPU: s.GetServerCpu(), Served: s.GetServed(),
				LoadCPU: s.GetLoadCpu(), Working: s.GetWorking(),
			}
		}),
		Targets: each(r.GetTargets(), func(t *pb.Tally) control.Tally {
			return control.Tally{
				RTT: t.GetRtt(), Intended: t.GetIntended(), Slip: t.GetSlip(),
				MaxRTT: t.GetMaxRtt(), Counts: t.GetCounts(), FirstErrors: t.GetFirstErrors(),
			}
		}),
	}
}

func countersToProto(c control.Counters) *pb.Counters {
	return &pb.Counters{
		Accepted: c.Accepted, Live: c.Live, Messages: c.Messages, Reads: c.Reads,
		GcCycles: c.GCCycles, GcNanos: c.GCNanos, Allocs: c.Allocs, Switches: c.Switches, Goroutines: c.Goroutines,
	}
}

func countersFromProto(c *pb.Counters) control.Counters {
	return control.Counters{
		Accepted: c.GetAccepted(), Live: c.GetLive(), Messages: c.GetMessages(), Reads: c.GetReads(),
		GCCycles: c.GetGcCycles(), GCNanos: c.GetGcNanos(), Allocs: c.GetAllocs(), Switches: c.GetSwitches(), Goroutines: c.GetGoroutines(),
	}
}
