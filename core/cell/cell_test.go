package cell_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

// good is a cell with nothing wrong about it.
func good() cell.Cell {
	return cell.Cell{
		Runtime: "rawpoll", Execution: cell.Callback,
		IOModel: cell.Sharded, Threads: 2,
		Protocol: "tcp", Payload: 1024, Clients: 16, Window: 16,
		Pattern: cell.Stream, Placement: cell.Split,
		LoadWait: cell.Busy, AddressFamily: cell.IPv4,
	}
}

func TestValidateRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*cell.Cell)
		want   string
	}{
		"no runtime":        {func(c *cell.Cell) { c.Runtime = "" }, "runtime: is missing"},
		"execution":         {func(c *cell.Cell) { c.Execution = "async" }, `execution: "async" is none of callback or goroutine`},
		"no execution":      {func(c *cell.Cell) { c.Execution = "" }, `execution: "" is none of callback or goroutine`},
		"io model":          {func(c *cell.Cell) { c.IOModel = "Shared" }, `io_model: "Shared" is none of shared or sharded`},
		"protocol":          {func(c *cell.Cell) { c.Protocol = "quic" }, `protocol: "quic" is none of tcp, udp, websocket, tcps, wss, http or https`},
		"pattern":           {func(c *cell.Cell) { c.Pattern = "burst" }, `pattern: "burst" is none of stream or batch`},
		"placement":         {func(c *cell.Cell) { c.Placement = "remote" }, `placement: "remote" is none of split or colocated`},
		"load wait":         {func(c *cell.Cell) { c.LoadWait = "spin" }, `load_wait: "spin" is none of busy or sleep`},
		"address family":    {func(c *cell.Cell) { c.AddressFamily = "unix" }, `address_family: "unix" is none of ipv4 or ipv6`},
		"no thread":         {func(c *cell.Cell) { c.Threads = 0 }, "threads: 0 lies outside 1 to 256"},
		"too many threads":  {func(c *cell.Cell) { c.Threads = 257 }, "threads: 257 lies outside 1 to 256"},
		"payload too small": {func(c *cell.Cell) { c.Payload = 15 }, "payload: 15 lies outside 16 to 16777216 (16 bytes are the header that tells messages apart)"},
		"payload too big":   {func(c *cell.Cell) { c.Payload = 16<<20 + 1 }, "payload: 16777217 lies outside 16 to 16777216"},
		"no client":         {func(c *cell.Cell) { c.Clients = 0 }, "clients: 0 lies outside 1 to 28000"},
		"too many clients":  {func(c *cell.Cell) { c.Clients = 28001 }, "clients: 28001 lies outside 1 to 28000"},
		"no window":         {func(c *cell.Cell) { c.Window = 0 }, "window: 0 lies outside 1 to 65536"},
		"window too big":    {func(c *cell.Cell) { c.Window = 65537 }, "window: 65537 lies outside 1 to 65536"},
		"negative work":     {func(c *cell.Cell) { c.Work = -1 }, "work: -1 lies outside 0 to 4294967296"},
		"too much work":     {func(c *cell.Cell) { c.Work = 1<<32 + 1 }, "work: 4294967297 lies outside 0 to 4294967296"},
		"datagram too big":  {func(c *cell.Cell) { c.Protocol, c.Payload = "udp", 65508 }, "payload: 65508 does not fit a udp datagram, which carries at most 65507 bytes"},
		"batch over http":   {func(c *cell.Cell) { c.Protocol, c.Pattern = "http", cell.Batch }, "pattern: batch goes with tcp and tcps only, not with http"},
		"negative rate":     {func(c *cell.Cell) { c.Rate = -0.5 }, "rate: -0.5 lies outside 0 (closed loop) to 1e9 round trips a second"},
		"rate too high":     {func(c *cell.Cell) { c.Rate = 2e9 }, "rate: 2e+09 lies outside 0 (closed loop) to 1e9 round trips a second"},
		"rate not a number": {func(c *cell.Cell) { c.Rate = math.NaN() }, "rate: NaN lies outside 0 (closed loop) to 1e9 round trips a second"},
		"too much in flight": {func(c *cell.Cell) { c.Clients, c.Window, c.Payload = 17, 16, 1<<20 },
			"payload: 17 clients × window 16 × 1048576 bytes would keep 272 MiB in flight, over the limit of 256 MiB"},
		"all limits at once": {func(c *cell.Cell) { c.Clients, c.Window, c.Payload = cell.MaxClients, cell.MaxWindow, cell.MaxPayload },
			"payload: 28000 clients × window 65536 × 16777216 bytes would keep 29360128000 MiB in flight, over the limit of 256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good()
			tc.change(&c)
			err := c.Validate()
			if err == nil {
				t.Fatalf("Validate() took %+v", c)
			}
			if got := err.Error(); got != tc.want {
				t.Errorf("Validate() = %q, want %q", got, tc.want)
			}
			var at *cell.Error
			if !errors.As(err, &at) {
				t.Fatalf("Validate() returned a %T, want a *cell.Error", err)
			}
			if !strings.HasPrefix(tc.want, at.Axis+": ") {
				t.Errorf("the error blames axis %q, want the one in %q", at.Axis, tc.want)
			}
		})
	}
}

func TestValidateTakes(t *testing.T) {
	for name, change := range map[string]func(*cell.Cell){
		"the usual":          func(*cell.Cell) {},
		"smallest payload":   func(c *cell.Cell) { c.Payload = cell.MinPayload },
		"largest payload":    func(c *cell.Cell) { c.Payload, c.Clients = cell.MaxPayload, 1 },
		"largest datagram":   func(c *cell.Cell) { c.Protocol, c.Payload, c.Window = "udp", cell.MaxDatagram, 1 },
		"most clients":       func(c *cell.Cell) { c.Clients, c.Window, c.Payload = cell.MaxClients, 1, 64 },
		"largest window":     func(c *cell.Cell) { c.Clients, c.Window, c.Payload = 1, cell.MaxWindow, 64 },
		"most in flight":     func(c *cell.Cell) { c.Clients, c.Window, c.Payload = 16, 16, 1<<20 },
		"most work":          func(c *cell.Cell) { c.Work = cell.MaxWork },
		"open loop":          func(c *cell.Cell) { c.Rate = 0.5 },
		"fastest open loop":  func(c *cell.Cell) { c.Rate = 1e9 },
		"batch over tls":     func(c *cell.Cell) { c.Protocol, c.Pattern = "tcps", cell.Batch },
		"most threads":       func(c *cell.Cell) { c.Threads = cell.MaxThreads },
		"colocated and ipv6": func(c *cell.Cell) { c.Placement, c.AddressFamily = cell.Colocated, cell.IPv6 },
	} {
		t.Run(name, func(t *testing.T) {
			c := good()
			change(&c)
			if err := c.Validate(); err != nil {
				t.Errorf("Validate() = %v, want nil for %+v", err, c)
			}
		})
	}
}

func TestEveryListedValueIsLegal(t *testing.T) {
	fields := reflect.TypeFor[cell.Cell]()
	fixed := 0
	for i := range fields.NumField() {
		axis := fields.Field(i).Tag.Get("json")
		values := cell.Values(axis)
		for _, v := range values {
			c := good()
			reflect.ValueOf(&c).Elem().Field(i).SetString(v)
			if err := c.Validate(); err != nil {
				t.Errorf("%s %s: Validate() = %v", axis, v, err)
			}
		}
		if values != nil {
			fixed++
		}
	}
	if fixed != 7 {
		t.Errorf("%d axes have a fixed set of values, want 7", fixed)
	}
	for _, axis := range []string{"runtime", "payload", "no such axis"} {
		if got := cell.Values(axis); got != nil {
			t.Errorf("Values(%q) = %v, want nil", axis, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for name, tc := range map[string]struct{ change, want func(*cell.Cell) }{
		"one thread is one case": {
			func(c *cell.Cell) { c.IOModel, c.Threads = cell.Sharded, 1 },
			func(c *cell.Cell) { c.IOModel, c.Threads = cell.Shared, 1 },
		},
		"one thread, shared":   {func(c *cell.Cell) { c.IOModel, c.Threads = cell.Shared, 1 }, nil},
		"two threads, sharded": {func(c *cell.Cell) { c.IOModel, c.Threads = cell.Sharded, 2 }, nil},
		"two threads, shared":  {func(c *cell.Cell) { c.IOModel, c.Threads = cell.Shared, 2 }, nil},
		"a colocated load waits as its runtime does": {
			func(c *cell.Cell) { c.Placement, c.LoadWait = cell.Colocated, cell.Busy },
			func(c *cell.Cell) { c.Placement, c.LoadWait = cell.Colocated, cell.Sleep },
		},
		"a load apart may poll": {func(c *cell.Cell) { c.Placement, c.LoadWait = cell.Split, cell.Busy }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, want := good(), good()
			tc.change(&c)
			if tc.want == nil {
				tc.want = tc.change
			}
			tc.want(&want)
			if got := c.Canonical(); got != want {
				t.Errorf("Canonical() = %+v, want %+v", got, want)
			}
			if again := want.Canonical(); again != want {
				t.Errorf("Canonical() of the canonical spelling = %+v, want %+v", again, want)
			}
		})
	}
}

func TestScenarioAndContender(t *testing.T) {
	c := good()
	k := c.Contender()
	if got, want := k.String(), "rawpoll/callback"; got != want {
		t.Errorf("Contender() = %s, want %s", got, want)
	}
	s := c.Scenario()
	if s.Runtime != "" || s.Execution != "" {
		t.Errorf("Scenario() kept its contender: %+v", s)
	}
	if got := s.With(k); got != c {
		t.Errorf("Scenario().With(Contender()) = %+v, want the cell %+v", got, c)
	}
	other := good()
	other.Runtime, other.Execution = "coroutine", cell.Goroutine
	if other.Scenario() != s {
		t.Error("cells that differ in the contender alone have different scenarios")
	}
}

func TestString(t *testing.T) {
	for want, change := range map[string]func(*cell.Cell){
		"rawpoll/callback tcp 1KiB 16×16 sharded×2": func(*cell.Cell) {},
		"tcp 1KiB 16×16 sharded×2":                  func(c *cell.Cell) { *c = c.Scenario() },
		"rawpoll/callback udp 65507B 3×1 shared×1": func(c *cell.Cell) {
			c.Protocol, c.Payload, c.Clients, c.Window, c.IOModel, c.Threads = "udp", 65507, 3, 1, cell.Shared, 1
		},
		"rawpoll/callback tcp 1KiB 16×16 sharded×2 work 10000 2.5/s batch colocated ipv6": func(c *cell.Cell) {
			c.Work, c.Rate, c.Pattern, c.Placement, c.AddressFamily = 10_000, 2.5, cell.Batch, cell.Colocated, cell.IPv6
		},
	} {
		c := good()
		change(&c)
		if got := c.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int]string{
		0: "0B", 16: "16B", 64: "64B", 1000: "1000B", 1023: "1023B", 1024: "1KiB", 1025: "1025B", 1536: "1536B",
		16384: "16KiB", 65507: "65507B", 1 << 20: "1MiB", 1<<20 + 1024: "1025KiB", 16 << 20: "16MiB",
	} {
		if got := cell.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %s, want %s", n, got, want)
		}
	}
}

// The names of the axes are read by others than this program.
func TestJSONNames(t *testing.T) {
	b, err := json.Marshal(good())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	want := []string{"runtime", "execution", "io_model", "threads", "protocol", "payload", "clients", "window",
		"work", "pattern", "placement", "rate", "load_wait", "address_family"}
	for _, name := range want {
		if _, ok := fields[name]; !ok {
			t.Errorf("the JSON of a cell lacks %s", name)
		}
		delete(fields, name)
	}
	for name := range fields {
		t.Errorf("the JSON of a cell has %s, which is no axis; the axes are %s", name, slices.Sorted(slices.Values(want)))
	}
}
