package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
)

// head is what every test file begins with.
const head = `version: 1
runtimes: {rawpoll: {plugin: bin/rawpoll}, coroutine: {plugin: /opt/coroutine}}
`

// suite is a file with one suite of tcp, 64 bytes, one client and window, one
// contender, and the entries given on top, in braces.
func suite(entries string) string {
	return head + "suites: {s: {runtime: rawpoll, execution: callback, protocol: tcp, payload: 64, clients: 1, window: 1, " + entries + "}}\n"
}

func parse(t *testing.T, src string) *Matrix {
	t.Helper()
	m, err := Parse("conf/matrix.yaml", []byte(src))
	if err != nil {
		t.Fatalf("Parse: %v\nof:\n%s", err, src)
	}
	return m
}

// cells are the cells of the only suite, as text.
func cells(m *Matrix) []string {
	var all []string
	for _, c := range m.Suites[0].Cells {
		all = append(all, c.String())
	}
	return all
}

func TestBuiltInDefaults(t *testing.T) {
	m := parse(t, head+"suites: {s: {protocol: tcp, payload: 64, clients: 2, window: 4}}")
	if got, want := m.Baseline, (cell.Contender{Runtime: "coroutine", Execution: "goroutine"}); got != want {
		t.Errorf("Baseline: got %v, want %v", got, want)
	}
	if got, want := m.Load, (LoadSetup{Runtime: "rawpoll", Threads: 0, Wait: "busy"}); got != want {
		t.Errorf("Load: got %v, want %v", got, want)
	}
	if got := m.CPUs.Mode; got != CPUsAuto {
		t.Errorf("CPUs.Mode: got %q, want auto", got)
	}
	s := m.Suites[0]
	if s.Rounds != 3 || s.Warmup != 250*time.Millisecond || s.Measure != time.Second || s.Contrast != "contender" {
		t.Errorf("suite: got %+v", s)
	}
	scenario := cell.Cell{
		IOModel: "shared", Threads: 1, Protocol: "tcp", Payload: 64, Clients: 2, Window: 4,
		Pattern: "stream", Placement: "split", LoadWait: "busy", AddressFamily: "ipv4",
	}
	var want []cell.Cell
	for _, r := range []string{"rawpoll", "coroutine"} {
		for _, e := range []string{"callback", "goroutine"} {
			want = append(want, scenario.With(cell.Contender{Runtime: r, Execution: e}))
		}
	}
	if !reflect.DeepEqual(s.Cells, want) {
		t.Errorf("cells: got %v, want %v", s.Cells, want)
	}
}

func TestPluginPaths(t *testing.T) {
	src := head + "suites: {s: {protocol: tcp, payload: 64, clients: 1, window: 1}}"
	m := parse(t, src)
	want := []Runtime{
		{"rawpoll", "bin/rawpoll", filepath.Join("conf", "bin", "rawpoll")},
		{"coroutine", "/opt/coroutine", "/opt/coroutine"},
	}
	if !reflect.DeepEqual(m.Runtimes, want) {
		t.Errorf("got %v, want %v", m.Runtimes, want)
	}
	if got := resolve("matrix.yaml", "rawpoll"); got != "."+string(filepath.Separator)+"rawpoll" {
		t.Errorf("a bare name: got %q, want it never to be looked up in PATH", got)
	}
}

func TestSuiteOverridesDefaults(t *testing.T) {
	m := parse(t, head+`
load: {wait: sleep, threads: 2}
cpus: {server: [0, 2], load: 1}
defaults:
  rounds: 5
  warmup: 0s
  twin: false
  delta: 1.5%
  contrast: work
  buffers: {send: 64KiB}
  protocol: [tcp, udp]
  payload: 1KiB
  window: 1
  clients: 1
suites:
  plain: {runtime: rawpoll, execution: callback}
  own:
    question: what then?
    runtime: rawpoll
    execution: callback
    rounds: 7
    twin: true
    repeats: 0
    measure: 1m30s
    buffers: {receive: 1MiB}
    protocol: wss
    load_wait: busy
    rate: 2.5
`)
	if want := (CPUs{Mode: CPUsList, Server: []int{0, 2}, Load: []int{1}}); !reflect.DeepEqual(m.CPUs, want) {
		t.Errorf("CPUs: got %v, want %v", m.CPUs, want)
	}
	if m.Load.Threads != 2 {
		t.Errorf("Load.Threads: got %d, want 2", m.Load.Threads)
	}
	plain, own := m.Suites[0], m.Suites[1]
	if plain.Rounds != 5 || plain.Warmup != 0 || plain.Contrast != "work" || plain.SendBuffer != 64<<10 || plain.ReceiveBuffer != 0 {
		t.Errorf("plain: got %+v, want the defaults", plain)
	}
	if plain.Twin != (cell.Contender{}) || plain.Delta != 0.015 || plain.Repeats != MaxRepeats {
		t.Errorf("plain: got twin %v, delta %v, %d repeats; want none, 0.015 and %d", plain.Twin, plain.Delta, plain.Repeats, MaxRepeats)
	}
	if own.Twin != m.Baseline || own.Delta != 0.015 || own.Repeats != 0 {
		t.Errorf("own: got twin %v, delta %v, %d repeats; want the baseline's, 0.015 and none", own.Twin, own.Delta, own.Repeats)
	}
	if len(plain.Cells) != 2 || plain.Cells[0].LoadWait != "sleep" || plain.Cells[1].Protocol != "udp" {
		t.Errorf("plain: got cells %+v, want tcp and udp, asleep as the load", plain.Cells)
	}
	if own.Rounds != 7 || own.Measure != 90*time.Second || own.SendBuffer != 64<<10 || own.ReceiveBuffer != 1<<20 || own.Question != "what then?" {
		t.Errorf("own: got %+v", own)
	}
	if c := own.Cells[0]; len(own.Cells) != 1 || c.Protocol != "wss" || c.LoadWait != "busy" || c.Rate != 2.5 {
		t.Errorf("own: got cells %+v", own.Cells)
	}
}

func TestExpansion(t *testing.T) {
	const base = "runtime: rawpoll, execution: callback, clients: 1, window: 4, "
	for _, tt := range []struct {
		name, entries string
		want          []string
	}{
		{"in the order of the file", "protocol: [udp, tcp], payload: [1024, 64]", []string{
			"udp 1KiB 1×4 shared×1", "udp 64B 1×4 shared×1", "tcp 1KiB 1×4 shared×1", "tcp 64B 1×4 shared×1"}},
		{"one thread is one case", "protocol: tcp, payload: 64, io_model: [sharded, shared], threads: [1, 2]", []string{
			"tcp 64B 1×4 shared×1", "tcp 64B 1×4 sharded×2", "tcp 64B 1×4 shared×2"}},
		{"a cell once", "protocol: [tcp, tcp], payload: [1024, 1KiB, 1024B]", []string{"tcp 1KiB 1×4 shared×1"}},
		{"overrides in order", "protocol: [tcp, udp], payload: [64, 1024], override: [" +
			"{when: {protocol: udp}, set: {window: 1}}, {when: {window: 1, payload: [1024, 16]}, set: {payload: 512, work: 9}}]", []string{
			"tcp 64B 1×4 shared×1", "tcp 1KiB 1×4 shared×1", "udp 64B 1×1 shared×1", "udp 512B 1×1 shared×1 work 9"}},
		{"an override that makes cells equal", "protocol: tcp, payload: [64, 1024], override: [{when: {payload: 64}, set: {payload: 1024}}]", []string{
			"tcp 1KiB 1×4 shared×1"}},
		{"an override to one thread", "protocol: tcp, payload: 64, io_model: sharded, threads: 2, override: [{when: {threads: 2}, set: {threads: 1}}]", []string{
			"tcp 64B 1×4 shared×1"}},
		{"coupled axes", "protocol: tcp, sizes: [{payload: 64, work: 1}, {work: 2, payload: 128}]", []string{
			"tcp 64B 1×4 shared×1 work 1", "tcp 128B 1×4 shared×1 work 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(t, head+"suites: {s: {"+base+tt.entries+"}}")
			want := make([]string, len(tt.want))
			for i, w := range tt.want {
				want[i] = "rawpoll/callback " + w
			}
			if got := cells(m); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestExclude(t *testing.T) {
	m := parse(t, head+`
exclude:
  - {when: {protocol: udp, payload: 1MiB}, why: no datagram holds it}
suites:
  s:
    {runtime: rawpoll, execution: callback, clients: 1, window: 1, protocol: [tcp, udp], payload: [64, 1MiB],
     exclude: [{when: {payload: [64, 65]}, why: "seen enough"}]}
`)
	if got, want := fmt.Sprint(cells(m)), "[rawpoll/callback tcp 1MiB 1×1 shared×1]"; got != want {
		t.Errorf("cells: got %s, want %s", got, want)
	}
	var why []string
	for _, x := range m.Suites[0].Excluded {
		why = append(why, x.Cell.Protocol+" "+cell.Bytes(x.Cell.Payload)+": "+x.Why)
	}
	want := []string{"tcp 64B: seen enough", "udp 64B: seen enough", "udp 1MiB: no datagram holds it"}
	if !reflect.DeepEqual(why, want) {
		t.Errorf("excluded: got %q, want %q", why, want)
	}
}

// Editors and systems end lines in their own ways; the matrix is the same.
func TestLineEnds(t *testing.T) {
	src, err := os.ReadFile("../../matrix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, string(src))
	for name, variant := range map[string]string{
		"CRLF":              strings.ReplaceAll(string(src), "\n", "\r\n"),
		"byte order mark":   "\ufeff" + string(src),
		"no final line end": strings.TrimRight(string(src), "\n"),
	} {
		if got := parse(t, variant); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got another matrix", name)
		}
	}
}

// A name is text, whatever number it looks like.
func TestNamesThatLookLikeNumbers(t *testing.T) {
	m := parse(t, `
version: 1
runtimes: {0123: {plugin: a}, rawpoll: {plugin: b}, coroutine: {plugin: c}}
suites: {010: {runtime: 0123, execution: callback, protocol: tcp, payload: 64, clients: 1, window: 1}}
`)
	if m.Runtimes[0].Name != "0123" || m.Suites[0].Name != "010" || m.Suites[0].Cells[0].Runtime != "0123" {
		t.Errorf("got runtime %q, suite %q, cell %v", m.Runtimes[0].Name, m.Suites[0].Name, m.Suites[0].Cells[0])
	}
}

func TestLoad(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want os.ErrNotExist", err)
	}
	path := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(path, []byte(strings.Repeat("#\n", maxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	var e *Error
	if !errors.As(err, &e) || e.File != path || !strings.Contains(e.Msg, "256 KiB") {
		t.Errorf("large file: got %v, want an *Error that names the limit", err)
	}
}

func TestLookups(t *testing.T) {
	m := parse(t, suite(""))
	if s, err := m.Suite("s"); err != nil || s != m.Suites[0] {
		t.Errorf("Suite(s): got %v, %v", s, err)
	}
	if _, err := m.Suite("quick"); err == nil || !strings.Contains(err.Error(), `no suite "quick"; use one of: s`) {
		t.Errorf("Suite(quick): got %v", err)
	}
	if r, err := m.Runtime("coroutine"); err != nil || r.Plugin != "/opt/coroutine" {
		t.Errorf("Runtime(coroutine): got %v, %v", r, err)
	}
	if _, err := m.Runtime("corutine"); err == nil || !strings.Contains(err.Error(), `did you mean "coroutine"?`) {
		t.Errorf("Runtime(corutine): got %v", err)
	}
}

// A matrix of the full shape: several runtimes, every protocol, coupled axes
// and an override.
func TestFullShape(t *testing.T) {
	m := parse(t, `
version: 1
runtimes:
  rawpoll:   {plugin: bin/plugins/rawpoll}
  stdnet:    {plugin: bin/plugins/stdnet}
  coroutine: {plugin: bin/plugins/coroutine}
baseline: {runtime: coroutine, execution: goroutine}
load: {runtime: rawpoll, threads: auto, wait: busy}
cpus: auto
defaults: {rounds: 3, warmup: 250ms, measure: 1s, work: 0, pattern: stream, placement: split, address_family: ipv4}
suites:
  reference:
    protocol: [tcp, udp, websocket, tcps, wss, http, https]
    payload: [64, 1024, 16384]
    traffic: [{clients: 1, window: 1}, {clients: 16, window: 16}]
    io: [{io_model: shared, threads: 1}, {io_model: sharded, threads: 4}]
    placement: colocated
    contrast: io_model
    override: [{when: {protocol: udp}, set: {window: 1}}]
`)
	s := m.Suites[0]
	if got, want := len(s.Cells), 3*2*7*3*2*2; got != want {
		t.Errorf("got %d cells, want %d", got, want)
	}
	for _, c := range s.Cells {
		if (c.Protocol == "udp" || c.Clients == 1) != (c.Window == 1) {
			t.Errorf("%v: got window %d", c, c.Window)
		}
	}
}
