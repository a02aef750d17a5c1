package blackbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// fault is a good plugin with one thing wrong. The zero value is a good one.
type fault struct {
	caughtBy string // the rule that finds it
	protocol string // to be tried; empty: tcp
	says     string // stands in what is found

	// data, end and close change what a session of the server does.
	data  func(s *faulty, in, out []byte) ([]byte, error)
	end   func(out []byte) []byte
	close func(err error)

	plugin func(control.Plugin) control.Plugin // changes how calls are answered
	info   func(*transport.Info)               // changes what it says of itself
	first  func()                              // runs before it serves
}

// faults are plugins by the name of the executable. The test binary is all of
// them: plugins take no flags and get no environment, so a link with the right
// name tells it which one to be.
var faults = map[string]fault{
	"good": {},
	"lacks-udp": {info: func(i *transport.Info) {
		i.Lacks = append(i.Lacks, transport.Lack{Axis: "protocol", Value: "udp", Why: "it has none"})
	}},

	"drops":         {caughtBy: "Once", says: "answer", data: oneMessageIn(1000, func([]byte) []byte { return nil })},
	"answers-twice": {caughtBy: "Once", says: "came where that to", data: oneMessageIn(1000, func(msg []byte) []byte { return slices.Concat(msg, msg) })},
	"reorders":      {caughtBy: "Once", says: "came where that to", data: reorder},
	"doubles":       {caughtBy: "Once", says: "answered twice", protocol: "udp", data: datagramTwice},
	"flips-a-bit":   {caughtBy: "Integrity", says: "is not what was sent", data: flip},
	"skips-work":    {caughtBy: "Work", says: "the work for message", plugin: wrap(func(p *changed) { p.prepare = withoutWork })},
	"breaks-batch":  {caughtBy: "Batch", says: "was not due", plugin: wrap(func(p *changed) { p.prepare = withoutBatch })},
	"miscounts":     {caughtBy: "Counts", says: "1001 messages", plugin: wrap(func(p *changed) { p.inspect = func(c *control.Counters) { c.Messages++ } })},
	"forgets-live":  {caughtBy: "Connections", says: "live connections", plugin: wrap(func(p *changed) { p.inspect = func(c *control.Counters) { c.Live = c.Accepted } })},

	"more-at-the-end":   {caughtBy: "HalfClose", says: "behind the last answer", end: func(out []byte) []byte { return append(out, "bye"...) }},
	"falls-with-a-peer": {caughtBy: "Reset", says: "panic: a peer has gone", close: fallOver},
	"takes-garbage":     {caughtBy: "Garbage", says: "is still open", data: withoutError},
	"hoards":            {caughtBy: "SlowReader", says: "more memory", data: hoard},
	"busy-elsewhere":    {caughtBy: "Control", says: "no answer in time", plugin: wrap(func(p *changed) { p.describe = slowly })},

	"leaks-goroutines":  {caughtBy: "Growth", says: "goroutines are left", close: func(error) { go func() { select {} }() }},
	"leaks-memory":      {caughtBy: "Growth", says: "memory grew", close: func(error) { leaked = append(leaked, touched(256<<10)) }},
	"leaks-descriptors": {caughtBy: "Descriptors", says: "descriptors are open", close: leakDescriptor},
	"ignores-stop":      {caughtBy: "Stop", says: "still open", plugin: wrap(func(p *changed) { p.stop = func(context.Context) error { return nil } })},
	"hangs-in-stop":     {caughtBy: "Stop", says: "no answer in time", plugin: wrap(func(p *changed) { p.stop = hang })},
	"outlives-driver":   {caughtBy: "Lifeline", says: "still there", first: deafen},

	"prints-first":   {caughtBy: "Starts", says: "Welcome!", first: func() { fmt.Println("Welcome!") }},
	"nameless":       {caughtBy: "Starts", says: "name is empty", info: func(i *transport.Info) { i.Name = "" }},
	"takes-anything": {caughtBy: "Refuses", says: "without a word", plugin: wrap(func(p *changed) { p.prepare = asIfPlain })},
	"refuses-rudely": {caughtBy: "Refuses", says: "not unsupported", plugin: wrap(func(p *changed) { p.rude = true })},
	"not-sharded":    {caughtBy: "Serves", says: "one loop", info: claimsSharded, plugin: wrap(func(p *changed) { p.prepare = onlyShared })},
	"mute-in-udp":    {caughtBy: "Serves", says: "silence", protocol: "udp", data: func(_ *faulty, _, out []byte) ([]byte, error) { return out, nil }},
	"hangs-in-prepare": {caughtBy: "Serves", says: "no answer in time", plugin: wrap(func(p *changed) {
		p.prepare = func(*control.Setup) error { select {} }
	})},

	"loses-count": {caughtBy: "Load", says: "but the server answered", plugin: wrap(func(p *changed) { p.tally = func(t control.Tally) { t.Counts[control.CountSent]-- } })},
	"overlooks":   {caughtBy: "WrongByte", says: "0 answers with wrong content", plugin: wrap(func(p *changed) { p.tally = func(t control.Tally) { t.Counts[control.CountContent] = 0 } })},
	"finds-fault": {caughtBy: "Both", says: "without fault", plugin: wrap(func(p *changed) { p.tally = func(t control.Tally) { t.Counts[control.CountOrder] = 3 } })},
}

// serve is the main of a faulty plugin.
func serve(f fault) {
	if f.first != nil {
		f.first()
	}
	var p control.Plugin = agent.New(&spoilt{rawpoll.New(), f}, all.Protocols())
	if f.plugin != nil {
		p = f.plugin(p)
	}
	goplugin.Serve(p)
}

// spoilt is a runtime with faulty sessions in its server. So that a test takes
// one variant only, it says that it lacks the others.
type spoilt struct {
	transport.Runtime
	fault fault
}

func (r *spoilt) Info() transport.Info {
	info := r.Runtime.Info()
	for _, l := range [][2]string{{"execution", "goroutine"}, {"io_model", "sharded"}, {"threads", "2"}} {
		info.Lacks = append(info.Lacks, transport.Lack{Axis: l[0], Value: l[1], Why: "one variant is enough here"})
	}
	if r.fault.info != nil {
		r.fault.info(&info)
	}
	return info
}

func (r *spoilt) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	return r.Runtime.Listen(c, func() transport.Session { return &faulty{Session: session(), fault: r.fault} })
}

// faulty is a session with the fault.
type faulty struct {
	transport.Session
	fault fault
	kept  []byte
}

// answered counts the answers of all sessions.
var answered atomic.Int64

func (s *faulty) Data(in, out []byte) ([]byte, error) {
	if s.fault.data == nil {
		return s.Session.Data(in, out)
	}
	return s.fault.data(s, in, out)
}

func (s *faulty) End(out []byte) ([]byte, error) {
	out, err := s.Session.End(out)
	if s.fault.end != nil {
		out = s.fault.end(out)
	}
	return out, err
}

func (s *faulty) Close(err error) {
	s.Session.Close(err)
	if s.fault.close != nil {
		s.fault.close(err)
	}
}

// framed is a message of rule Once in tcp.
const framed = 4 + 64

// oneMessageIn changes one answer in n, among whole messages of rule Once.
func oneMessageIn(n int64, change func(msg []byte) []byte) func(*faulty, []byte, []byte) ([]byte, error) {
	return func(s *faulty, in, out []byte) ([]byte, error) {
		out, err := s.Session.Data(in, out)
		if len(out)%framed != 0 {
			return out, err
		}
		var spoilt []byte
		for msg := range slices.Chunk(out, framed) {
			if answered.Add(1)%n == 0 {
				msg = change(msg)
			}
			spoilt = append(spoilt, msg...)
		}
		return spoilt, err
	}
}

// flip changes a bit in one answer of 1000.
func flip(s *faulty, in, out []byte) ([]byte, error) {
	out, err := s.Session.Data(in, out)
	const plain = 4 + 1024
	n := int64(len(out) / plain)
	if now := answered.Add(n); now/1000 != (now-n)/1000 {
		out[len(out)-1] ^= 0x10
	}
	return out, err
}

// reorder answers messages that came together from the last to the first.
func reorder(s *faulty, in, out []byte) ([]byte, error) {
	out, err := s.Session.Data(in, out)
	if len(out)%framed != 0 {
		return out, err
	}
	var turned []byte
	for part := range slices.Chunk(out, framed) {
		turned = append(part[:framed:framed], turned...)
	}
	return turned, err
}

// datagramTwice: output longer than a datagram is cut into several.
func datagramTwice(s *faulty, in, out []byte) ([]byte, error) {
	answer, err := s.Session.Data(in, out)
	out = append(out, answer...)
	if answered.Add(1)%100 == 0 {
		out = append(out, answer...)
	}
	return out, err
}

func withoutError(s *faulty, in, out []byte) ([]byte, error) {
	out, _ = s.Session.Data(in, out)
	return out, nil
}

// hoard keeps its large answers for itself.
func hoard(s *faulty, in, out []byte) ([]byte, error) {
	out, err := s.Session.Data(in, out)
	if len(in) > 4096 {
		s.kept = append(s.kept, out...)
		return out[:0], err
	}
	return out, err
}

func fallOver(err error) {
	if err != nil {
		panic("a peer has gone")
	}
}

var leaked [][]byte

// touched is memory that the kernel has had to provide.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

var leakedFiles []*os.File

func leakDescriptor(error) {
	if f, err := os.Open(os.DevNull); err == nil {
		leakedFiles = append(leakedFiles, f)
	}
}

// deafen puts a standard input that never ends in the place of the lifeline.
func deafen() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdin, leakedFiles = r, append(leakedFiles, w)
}

// changed is a plugin some of whose calls are answered otherwise.
type changed struct {
	control.Plugin
	describe func(prepared bool)
	prepare  func(*control.Setup) error
	inspect  func(*control.Counters)
	tally    func(control.Tally)
	stop     func(context.Context) error
	rude     bool // refuses without saying unsupported

	prepared atomic.Bool
}

func wrap(change func(*changed)) func(control.Plugin) control.Plugin {
	return func(p control.Plugin) control.Plugin {
		c := &changed{Plugin: p}
		change(c)
		return c
	}
}

func (c *changed) Describe(ctx context.Context) (control.Description, error) {
	if c.describe != nil {
		c.describe(c.prepared.Load())
	}
	return c.Plugin.Describe(ctx)
}

func (c *changed) Prepare(ctx context.Context, s control.Setup) (control.Ready, error) {
	c.prepared.Store(true)
	if c.prepare != nil {
		if err := c.prepare(&s); err != nil {
			return control.Ready{}, err
		}
	}
	ready, err := c.Plugin.Prepare(ctx, s)
	if err != nil && c.rude {
		err = errors.New("no")
	}
	return ready, err
}

func (c *changed) Inspect(ctx context.Context) (control.Counters, error) {
	n, err := c.Plugin.Inspect(ctx)
	if c.inspect != nil {
		c.inspect(&n)
	}
	return n, err
}

func (c *changed) Measure(ctx context.Context, plan []control.Slice) (control.Result, error) {
	r, err := c.Plugin.Measure(ctx, plan)
	if c.tally != nil && err == nil {
		for _, t := range r.Targets {
			c.tally(t)
		}
	}
	return r, err
}

func (c *changed) Stop(ctx context.Context) error {
	if c.stop != nil {
		return c.stop(ctx)
	}
	return c.Plugin.Stop(ctx)
}

func hang(context.Context) error { select {} }

// slowly takes longer than a driver waits, once prepared.
func slowly(prepared bool) {
	if prepared {
		<-time.After(1500 * time.Millisecond)
	}
}

func withoutWork(s *control.Setup) error {
	s.Cell.Work = 0
	return nil
}

func withoutBatch(s *control.Setup) error {
	s.Cell.Pattern = "stream"
	return nil
}

// asIfPlain takes whatever it is asked for, and does something else.
func asIfPlain(s *control.Setup) error {
	s.Cell.Execution, s.Cell.IOModel, s.Cell.Threads = "callback", "shared", 1
	s.IOModel, s.Threads = s.Cell.IOModel, s.Cell.Threads
	return nil
}

func claimsSharded(i *transport.Info) {
	i.Lacks = slices.DeleteFunc(i.Lacks, func(l transport.Lack) bool { return l.Value == "sharded" || l.Value == "2" })
}

func onlyShared(s *control.Setup) error {
	if s.IOModel == "sharded" {
		return errors.New("there is but one loop here")
	}
	return nil
}
