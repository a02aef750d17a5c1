package load_test

import (
	"fmt"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/transport"
)

// A load and a server without sockets: what a runtime does for one connection,
// on a clock that goes on by a millisecond for each round trip.
func ExampleLoad() {
	now := int64(0)
	l, err := load.New(load.Config{Protocol: tcp.Protocol(), Payload: 64, Clients: 1, Window: 4, Clock: func() int64 { return now }}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := l.Sessions(0)[0]
	server := echo.NewServer(echo.Config{Protocol: tcp.Protocol()}).Session()
	client.Open(nil)
	server.Open(nil)
	trip := func(up []byte) []byte {
		down, _ := server.Data(up, nil)
		now += 1_000_000
		up, _ = client.Data(down, nil)
		return up
	}
	wake := func() []byte {
		up, _, _ := client.(transport.Waker).Wake(nil)
		return up
	}

	trip(wake()) // the checked exchange
	<-l.Verified()
	l.Start([]control.Slice{{Length: 10_000_000, Counted: true}})
	for up := wake(); len(up) > 0; {
		up = trip(up)
	}
	<-l.Done()
	res, _ := l.Result()
	fmt.Println(res.Slices[0].RoundTrips, "round trips, longest", res.Targets[0].MaxRTT, "ns")
	// Output: 36 round trips, longest 1000000 ns
}
