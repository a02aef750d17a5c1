package websocket_test

import (
	"fmt"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
	"github.com/netmatrix/netmatrix/core/transport"
)

// BenchmarkRoundTrip is what both ends together cost for one message, without
// IO: one window handed back and forth between a load and an echo session.
func BenchmarkRoundTrip(b *testing.B) {
	const window = 16
	for _, payload := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprint(payload), func(b *testing.B) {
			must := func(out []byte, err error) []byte {
				if err != nil {
					b.Fatal(err)
				}
				return out
			}
			now := int64(1)
			l, err := load.New(load.Config{
				Protocol: websocket.Protocol(), Payload: payload, Clients: 1, Window: window,
				Clock: func() int64 { now += 100; return now },
			}, 1)
			must(nil, err)
			client := l.Sessions(0)[0]
			server := echo.NewServer(echo.Config{Protocol: websocket.Protocol()}).Session()
			must(server.Open(nil))
			up, down := must(client.Open(nil)), []byte(nil)
			trip := func() {
				down = must(server.Data(up, down[:0]))
				up = must(client.Data(down, up[:0]))
			}
			trip() // the upgrade
			trip() // the checked exchange
			must(nil, l.Start([]control.Slice{{Length: 1 << 62, Counted: true}}))
			up, _, err = client.(transport.Waker).Wake(up)
			must(nil, err)
			b.ReportAllocs()
			b.SetBytes(int64(2 * payload))
			for n := 0; n < b.N; n += window {
				trip()
			}
		})
	}
}
