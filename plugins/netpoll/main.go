// Command netpoll serves the cloudwego/netpoll runtime as a
// transport plugin.
package main

import (
	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/runtimes/netpoll"
)

func main() { goplugin.Serve(agent.New(netpoll.New(), all.Protocols())) }
