// Package all lists the protocols there are. A protocol is added here and
// nowhere else.
package all

import (
	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
	"github.com/netmatrix/netmatrix/core/protocol/tcp"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

// Protocols returns every protocol, in the order reports show them.
func Protocols() []protocol.Protocol {
	return []protocol.Protocol{
		tcp.Protocol(),
		udp.Protocol(),
		websocket.Protocol(),
		tcp.Secure(),
		websocket.Secure(),
		http1.Protocol(),
		http1.Secure(),
	}
}
