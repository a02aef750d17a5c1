package conformance

import (
	"errors"
	"testing"

	"github.com/netmatrix/netmatrix/core/transport"
)

// BenchmarkEcho measures one connection with one message of 1 KiB in flight, in
// each execution that the runtime has, both ends on its threads. It tells what
// a change did to a runtime; it is no comparison between runtimes.
func BenchmarkEcho(b *testing.B, open func(b *testing.B) transport.Runtime) {
	for _, v := range executions(Variants(open(b).Info())) {
		b.Run(v.Execution, func(b *testing.B) { benchmarkEcho(b, open(b), v) })
	}
}

func benchmarkEcho(b *testing.B, r transport.Runtime, v Variant) {
	const messageBytes = 1024
	c := transport.Config{Execution: v.Execution, IOModel: v.IOModel, Threads: v.Threads}
	server, err := r.Listen(c, func() transport.Session { return pong{} })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	s := &ping{message: text(1, messageBytes), left: b.N, closed: make(chan error, 1)}
	b.ReportAllocs()
	b.SetBytes(messageBytes)
	client, err := r.Dial(c, server.Addrs(), []transport.Session{s})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close() })
	if err := <-s.closed; err != nil {
		b.Fatal(err)
	}
}

// pong is an echo that nobody watches, so that all there is to measure is the
// runtime's.
type pong struct{}

func (pong) Open(out []byte) ([]byte, error)     { return out, nil }
func (pong) Data(in, out []byte) ([]byte, error) { return append(out, in...), nil }
func (pong) End(out []byte) ([]byte, error)      { return out, nil }
func (pong) Close(error)                         {}

// ping sends its message again whenever it is back, until none are left.
type ping struct {
	message []byte
	left    int
	partial int // bytes that are back of the message in flight
	closed  chan error
}

func (p *ping) Open(out []byte) ([]byte, error) { return append(out, p.message...), nil }

func (p *ping) Data(in, out []byte) ([]byte, error) {
	if p.partial += len(in); p.partial < len(p.message) {
		return out, nil
	}
	p.partial = 0
	if p.left--; p.left == 0 {
		return out, transport.ErrDone
	}
	return append(out, p.message...), nil
}

func (p *ping) End(out []byte) ([]byte, error) { return out, errors.New("the echo ended early") }

func (p *ping) Close(err error) { p.closed <- err }
