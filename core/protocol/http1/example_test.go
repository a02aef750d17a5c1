package http1_test

import (
	"fmt"

	"github.com/netmatrix/netmatrix/core/protocol/http1"
)

// A message goes out as a request and comes back as the response to it.
func ExampleProtocol() {
	p := http1.Protocol()
	client, server := p.Client(), p.Server()

	request := client.Append(nil, []byte("head"), []byte(" and body"))
	msg, _, _, err := server.Next(request, nil)
	fmt.Printf("%s %v\n", msg, err)

	msg, _, _, err = client.Next(server.Append(nil, msg, nil), nil)
	fmt.Printf("%s %v\n", msg, err)

	_, _, out, err := server.Next([]byte("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"), nil)
	fmt.Printf("%.31s %v\n", out, err)
	// Output:
	// head and body <nil>
	// head and body <nil>
	// HTTP/1.1 405 Method Not Allowed malformed: request: the method for /echo is POST
}
