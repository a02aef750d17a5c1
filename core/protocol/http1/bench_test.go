package http1_test

import (
	"fmt"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
	"github.com/netmatrix/netmatrix/core/transport"
)

// BenchmarkRoundTrip is what both ends together cost for one message, without
// IO: one window handed back and forth between a load and an echo session.
func BenchmarkRoundTrip(b *testing.B) {
	const window = 16
	for _, payload := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprint(payload), func(b *testing.B) {
			now := int64(1)
			l, err := load.New(load.Config{
				Protocol: http1.Protocol(), Payload: payload, Clients: 1, Window: window,
				Clock: func() int64 { now += 100; return now },
			}, 1)
			if err != nil {
				b.Fatal(err)
			}
			client := l.Sessions(0)[0]
			wake := func(out []byte) ([]byte, error) {
				out, _, err := client.(transport.Waker).Wake(out)
				return out, err
			}
			server := echo.NewServer(echo.Config{Protocol: http1.Protocol()}).Session()
			must := func(out []byte, err error) []byte {
				if err != nil {
					b.Fatal(err)
				}
				return out
			}
			must(server.Open(nil))
			var down []byte
			up := must(wake(must(client.Open(nil))))
			trip := func() {
				down = must(server.Data(up, down[:0]))
				up = must(client.Data(down, up[:0]))
			}
			trip()
			if err := l.Start([]control.Slice{{Length: 1 << 62, Counted: true}}); err != nil {
				b.Fatal(err)
			}
			up = must(wake(up[:0]))
			b.ReportAllocs()
			b.SetBytes(int64(2 * payload))
			for n := 0; n < b.N; n += window {
				trip()
			}
		})
	}
}

// BenchmarkRequest is what a server has to do to find the message in a request.
func BenchmarkRequest(b *testing.B) {
	for name, in := range map[string]string{
		"ours": string(http1.Protocol().Client().Append(nil, make([]byte, 64), nil)),
		"curl": "POST /echo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n" +
			"Content-Length: 5\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nhello",
	} {
		b.Run(name, func(b *testing.B) {
			server, stream := http1.Protocol().Server(), []byte(in)
			for b.Loop() {
				if _, used, _, err := server.Next(stream, nil); used != len(stream) || err != nil {
					b.Fatalf("used %d, error %v", used, err)
				}
			}
		})
	}
}
