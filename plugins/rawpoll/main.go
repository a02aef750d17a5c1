// Command rawpoll serves the raw epoll and kqueue runtime as a transport plugin.
package main

import (
	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

func main() { goplugin.Serve(agent.New(rawpoll.New(), all.Protocols())) }
