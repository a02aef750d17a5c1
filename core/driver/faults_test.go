package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/matrix"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// faultAt is the message at which a faulty session goes wrong: past the checked
// exchanges of Prepare, early in the plan.
const faultAt = 50

// serverPause is how long a pausing server answers nothing, from message pauseAt on.
const (
	pauseAt     = 300
	serverPause = 350 * time.Millisecond
)

// faults are plugins that go wrong, by the name of the executable. The test
// binary is all of them: plugins take no flags and get no environment, so a
// link with the right name tells it which one to be.
var faults = map[string]func(){
	"good":     func() { serve(nil, nil) },
	"good-too": func() { serve(nil, nil) },
	"rateless": func() { serve(func(p control.Plugin) control.Plugin { return rateless{p} }, nil) },
	"pauses": func() {
		serve(nil, func(n int64, out []byte) []byte {
			if n == pauseAt {
				time.Sleep(serverPause)
			}
			return out
		})
	},
	"panics-preparing": func() {
		serve(func(p control.Plugin) control.Plugin { return panicking{p} }, nil)
	},
	"panics-serving": func() {
		serve(nil, func(n int64, out []byte) []byte {
			if n == faultAt {
				panic("the handler is broken")
			}
			return out
		})
	},
	"exits-serving": func() {
		serve(nil, func(n int64, out []byte) []byte {
			if n == faultAt {
				os.Exit(7)
			}
			return out
		})
	},
	"stops-answering": func() {
		serve(nil, func(n int64, out []byte) []byte {
			if n >= faultAt {
				return out[:0]
			}
			return out
		})
	},
	"one-wrong-byte": func() {
		serve(nil, func(n int64, out []byte) []byte {
			if n == faultAt {
				out[len(out)-1] ^= 1
			}
			return out
		})
	},
	"drops-1-in-150":   func() { serve(nil, drop(150)) },
	"drops-1-in-20":    func() { serve(nil, drop(20)) },
	"hangs-starting":   func() { select {} },
	"exits-starting":   func() { fmt.Fprintln(os.Stderr, "no licence found"); os.Exit(3) },
	"prints-first":     func() { fmt.Println("Welcome to my runtime!"); serve(nil, nil) },
	"older-contract":   func() { fmt.Println("1|0|unix|/nowhere|grpc|"); select {} },
	"hangs-measuring":  func() { serve(func(p control.Plugin) control.Plugin { return hanging{p} }, nil) },
	"answers-nonsense": func() { serve(func(p control.Plugin) control.Plugin { return lying{p} }, nil) },
}

func TestMain(m *testing.M) {
	if act, ok := faults[filepath.Base(os.Args[0])]; ok {
		act()
		return
	}
	os.Exit(m.Run())
}

// serve serves rawpoll, changed by the two arguments where they are given.
func serve(change func(control.Plugin) control.Plugin, spoil func(n int64, out []byte) []byte) {
	var rt transport.Runtime = rawpoll.New()
	if spoil != nil {
		rt = &spoiled{Runtime: rt, spoil: spoil}
	}
	var p control.Plugin = agent.New(rt, all.Protocols())
	if change != nil {
		p = change(p)
	}
	goplugin.Serve(p)
}

// spoiled is a runtime whose server sessions have their output changed.
type spoiled struct {
	transport.Runtime
	spoil func(n int64, out []byte) []byte
	n     atomic.Int64
}

func (r *spoiled) Listen(c transport.Config, session func() transport.Session) (transport.Group, error) {
	return r.Runtime.Listen(c, func() transport.Session { return &spoiledSession{session(), r} })
}

// drop answers all but every nth message.
func drop(every int64) func(n int64, out []byte) []byte {
	return func(n int64, out []byte) []byte {
		if n%every == 0 {
			return out[:0]
		}
		return out
	}
}

type spoiledSession struct {
	transport.Session
	r *spoiled
}

func (s *spoiledSession) Data(in, out []byte) ([]byte, error) {
	out, err := s.Session.Data(in, out)
	return s.r.spoil(s.r.n.Add(1), out), err
}

type panicking struct{ control.Plugin }

func (panicking) Prepare(context.Context, control.Setup) (control.Ready, error) {
	panic("prepared for the worst")
}

type hanging struct{ control.Plugin }

func (hanging) Measure(context.Context, []control.Slice) (control.Result, error) { select {} }

type lying struct{ control.Plugin }

func (p lying) Measure(ctx context.Context, plan []control.Slice) (control.Result, error) {
	res, err := p.Plugin.Measure(ctx, plan)
	for i := range res.Slices {
		res.Slices[i].RoundTrips *= 1000
	}
	return res, err
}

// newDriver makes a driver over faulty plugins and a good one, which is also
// the load.
func newDriver(t *testing.T, names ...string) *driver.Driver {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var runtimes []matrix.Runtime
	for _, name := range append([]string{"good"}, names...) {
		path := filepath.Join(dir, name)
		if err := os.Symlink(exe, path); err != nil {
			t.Fatal(err)
		}
		runtimes = append(runtimes, matrix.Runtime{Name: name, Plugin: path, Path: path})
	}
	host, err := goplugin.NewHost(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := driver.New(t.Context(), host, driver.Config{
		Runtimes: runtimes,
		Load:     matrix.LoadSetup{Runtime: "good", Wait: cell.Busy},
		CPUs:     matrix.CPUs{Mode: matrix.CPUsAuto},
		Timeouts: driver.Timeouts{Start: 3 * time.Second, Drain: 300 * time.Millisecond, Measure: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func scenario(placement string) cell.Cell {
	return cell.Cell{
		IOModel: cell.Shared, Threads: 1, Protocol: "tcp", Payload: 64, Clients: 4, Window: 4,
		Pattern: cell.Stream, Placement: placement, LoadWait: cell.Busy, AddressFamily: cell.IPv4,
	}.Canonical()
}

func trial(placement string, names ...string) driver.Trial {
	t := driver.Trial{
		Order: 1, Round: 1, Group: "g", Scenario: scenario(placement),
		Warmup: 50 * time.Millisecond, Measure: 200 * time.Millisecond, Seed: 1, CheckAll: true,
	}
	for _, n := range names {
		t.Contenders = append(t.Contenders, cell.Contender{Runtime: n, Execution: cell.Callback})
	}
	return t
}

// A plugin that goes wrong costs its own record and nobody else's, says why,
// and the next trial runs.
func TestFaultyPluginCostsOneRecord(t *testing.T) {
	for _, c := range []struct {
		plugin, placement, status string
		reason                    []string // each must stand in the reason
		detail                    string   // must stand in the detail
	}{
		{"panics-preparing", cell.Split, record.Failed, []string{"panics-preparing/callback", "prepared for the worst"}, "goroutine "},
		{"panics-serving", cell.Split, record.Failed, []string{"panics-serving/callback", "the handler is broken", "measurement"}, "spoiledSession).Data"},
		{"exits-serving", cell.Split, record.Failed, []string{"exits-serving/callback", "exited with status 7"}, ""},
		{"stops-answering", cell.Split, record.Invalid, []string{"unfinished"}, ""},
		{"one-wrong-byte", cell.Split, record.Invalid, []string{"1 content", "body"}, ""},
		{"hangs-starting", cell.Split, record.Failed, []string{"hangs-starting", "was not ready in time"}, ""},
		{"exits-starting", cell.Split, record.Failed, []string{"exits-starting", "status 3", "no licence found"}, ""},
		{"prints-first", cell.Split, record.Failed, []string{"prints-first", "Welcome to my runtime!"}, ""},
		{"older-contract", cell.Split, record.Failed, []string{"older-contract", "contract"}, ""},
		{"hangs-measuring", cell.Colocated, record.Failed, []string{"hangs-measuring/callback", "no result within"}, ""},
		{"answers-nonsense", cell.Colocated, record.Failed, []string{"answers-nonsense/callback", "makes no sense"}, ""},
	} {
		t.Run(c.plugin, func(t *testing.T) {
			d := newDriver(t, c.plugin)
			var recs []record.Record
			if c.placement == cell.Split {
				recs = measure(t, d, trial(c.placement, c.plugin, "good"))
			} else {
				recs = append(measure(t, d, trial(c.placement, c.plugin)), measure(t, d, trial(c.placement, "good"))...)
			}
			bad, good := recs[0], recs[1]
			if bad.Status != c.status {
				t.Errorf("status %q, want %q (reason %q)", bad.Status, c.status, bad.Reason)
			}
			for _, want := range c.reason {
				if !strings.Contains(bad.Reason, want) {
					t.Errorf("reason %q does not say %q", bad.Reason, want)
				}
			}
			if !strings.Contains(bad.Detail, c.detail) {
				t.Errorf("detail %q does not hold %q", bad.Detail, c.detail)
			}
			if good.Status != record.OK || good.Metrics.RoundTrips == 0 {
				t.Errorf("the good contender: %s, %s", good.Status, good.Reason)
			}
			if c.placement == cell.Split && c.status == record.Failed && (good.Attempt != 2 || !strings.Contains(good.Detail, c.plugin)) {
				t.Errorf("the good contender, attempt %d, does not say why there were more than one: %q", good.Attempt, good.Detail)
			}
			again := measure(t, d, trial(c.placement, "good"))
			if again[0].Status != record.OK {
				t.Errorf("the next trial: %s, %s", again[0].Status, again[0].Reason)
			}
		})
	}
}

func measure(t *testing.T, d *driver.Driver, tr driver.Trial) []record.Record {
	t.Helper()
	recs, err := d.Run(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) != len(tr.Contenders) {
		t.Fatalf("%d records of %d contenders", len(recs), len(tr.Contenders))
	}
	for i, r := range recs {
		if r.Cell.Contender() != tr.Contenders[i] {
			t.Fatalf("record %d is of %s, want %s", i, r.Cell.Contender(), tr.Contenders[i])
		}
	}
	return recs
}

func TestMissingPluginIsOneClearError(t *testing.T) {
	host, err := goplugin.NewHost(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	path := filepath.Join(t.TempDir(), "nothing")
	_, err = driver.New(t.Context(), host, driver.Config{Runtimes: []matrix.Runtime{{Name: "x", Path: path}}, Load: matrix.LoadSetup{Runtime: "x"}})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v does not name %s and the remedy", err, path)
	}
}

func TestInterruptedTrialLeavesNoRecord(t *testing.T) {
	d := newDriver(t)
	ctx, cancel := context.WithCancel(t.Context())
	tr := trial(cell.Split, "good")
	tr.Measure = 10 * time.Second
	time.AfterFunc(300*time.Millisecond, cancel)
	began := time.Now()
	recs, err := d.Run(ctx, tr)
	if !errors.Is(err, context.Canceled) || recs != nil {
		t.Errorf("got %v, %v; want the context's error and no record", recs, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it went on for %v after the interruption", took)
	}
}
