package load

import (
	"fmt"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
)

// BenchmarkRoundTrip is what both ends together cost for one message, without
// IO: one window handed back and forth between a load and an echo session.
func BenchmarkRoundTrip(b *testing.B) {
	const window = 16
	for _, payload := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprint(payload), func(b *testing.B) {
			now := int64(1)
			l, err := New(Config{
				Protocol: tcp.Protocol(), Payload: payload, Clients: 1, Window: window,
				Clock: func() int64 { now += 100; return now },
			}, 1)
			if err != nil {
				b.Fatal(err)
			}
			client := l.sessions[0][0]
			server := echo.NewServer(echo.Config{Protocol: tcp.Protocol()}).Session()
			if _, err := server.Open(nil); err != nil {
				b.Fatal(err)
			}
			var out, free []byte // the server answers in place, so two take turns
			must := func(o []byte, err error) []byte {
				if err != nil {
					b.Fatal(err)
				}
				return o
			}
			trip := func() {
				out = must(server.Data(out, nil))
				out, free = must(client.Data(out, free[:0])), out
			}
			out, _, err = client.Wake(must(client.Open(nil)))
			must(out, err)
			trip()
			if err := l.Start([]control.Slice{{Length: 1 << 62, Counted: true}}); err != nil {
				b.Fatal(err)
			}
			out, _, err = client.Wake(out)
			must(out, err)
			b.ReportAllocs()
			b.SetBytes(int64(2 * payload))
			for n := 0; n < b.N; n += window {
				trip()
			}
		})
	}
}
