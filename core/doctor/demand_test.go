package doctor

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/matrix"
)

const demanding = `version: 1
runtimes:
  a: {plugin: /bin/a}
  b: {plugin: /bin/b}
  c: {plugin: /bin/c}
baseline: {runtime: a, execution: callback}
load: {runtime: a, threads: auto, wait: busy}
cpus: auto
defaults: {rounds: 1, warmup: 1ms, measure: 10ms, work: 0, pattern: stream, placement: split, address_family: ipv4}
suites:
  split:
    execution: callback
    protocol: tcp
    payload: [64, 16KiB]
    clients: [10, 100]
    window: 16
    io_model: shared
    threads: 1
  colocated:
    execution: callback
    protocol: PROTOCOL
    payload: 24KiB
    clients: 149
    window: 64
    io_model: shared
    threads: 1
    placement: colocated
`

func TestDemandOf(t *testing.T) {
	for protocol, want := range map[string]Demand{
		"tcp": {Clients: 149, Connections: 400, InFlight: 64 * 24 << 10},
		"udp": {Clients: 149, Connections: 400, InFlight: 16 * 16 << 10, Buffer: DatagramBuffer},
	} {
		source := []byte(strings.ReplaceAll(demanding, "PROTOCOL", protocol))
		m, err := matrix.Parse("matrix.yaml", source)
		if err != nil {
			t.Fatal(err)
		}
		got := DemandOf(m, []int{0, 1, 2})
		if !slices.Equal(got.Plugins, []string{"/bin/a", "/bin/b", "/bin/c"}) {
			t.Errorf("plugins %v", got.Plugins)
		}
		want.Plugins, want.Server, want.Load = got.Plugins, []int{0}, []int{1, 2}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", protocol, got, want)
		}
	}
}
