// Command coroutine serves the package net runtime with a goroutine per
// connection as a transport plugin.
package main

import (
	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/runtimes/coroutine"
)

func main() { goplugin.Serve(agent.New(coroutine.New(), all.Protocols())) }
