package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

// grid is two contenders on two payloads and two numbers of clients.
func grid(placement string) []cell.Cell {
	var all []cell.Cell
	for _, k := range []cell.Contender{{Runtime: "rawpoll", Execution: "callback"}, {Runtime: "coroutine", Execution: "goroutine"}} {
		for _, payload := range []int{64, 16384} {
			for _, clients := range []int{1, 16} {
				c := cell.Cell{
					IOModel: "shared", Threads: 1, Protocol: "tcp", Payload: payload, Clients: clients, Window: 1,
					Pattern: "stream", Placement: placement, LoadWait: "busy", AddressFamily: "ipv4",
				}
				all = append(all, c.With(k))
			}
		}
	}
	return all
}

func TestOnly(t *testing.T) {
	all := grid(cell.Split)
	for _, tt := range []struct {
		expr string
		want []int // indices into all
	}{
		{"payload=64", []int{0, 1, 4, 5}},
		{"payload=16KiB,clients=1", []int{2, 6}},
		{"payload=16KiB,payload=64,clients=16", []int{1, 3, 5, 7}},
		{"contender=rawpoll/callback", []int{0, 1, 2, 3}},
		{"contender=rawpoll/callback, contender=coroutine/goroutine ,payload=64", []int{0, 1, 4, 5}},
		{"runtime=coroutine,execution=goroutine,rate=0,work=0", []int{4, 5, 6, 7}},
	} {
		var want []cell.Cell
		for _, i := range tt.want {
			want = append(want, all[i])
		}
		got, err := Only(all, tt.expr)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, %v; want %v", tt.expr, got, err, want)
		}
	}
	if fmt.Sprint(all) != fmt.Sprint(grid(cell.Split)) {
		t.Error("Only changed the cells it was given")
	}
}

func TestOnlyErrors(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{"", `write axis=value`},
		{"payload", `write axis=value`},
		{"paylod=64", `unknown axis "paylod"; did you mean "payload"?`},
		{"contendr=a/b", `did you mean "contender"?`},
		{"payload=1024", "no cell has it; payload is one of 64, 16384"},
		{"payload=64,payload=1024", "--only payload=1024: no cell has it"},
		{"payload=064", "write 64"},
		{"protocol=upd", `did you mean "udp"?`},
		{"contender=rawpoll", "write runtime/execution"},
		{"contender=rawpoll/goroutine", "contender is one of rawpoll/callback, coroutine/goroutine"},
		{"runtime=rawpoll,execution=goroutine", "no cell has all of it at once"},
	} {
		got, err := Only(grid(cell.Split), tt.expr)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, %v; want an error with %q", tt.expr, got, err, tt.want)
		}
	}
}
