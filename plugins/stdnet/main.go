// Command stdnet serves the package net runtime driven by callbacks as a
// transport plugin.
package main

import (
	"github.com/netmatrix/netmatrix/core/agent"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
	"github.com/netmatrix/netmatrix/runtimes/stdnet"
)

func main() { goplugin.Serve(agent.New(stdnet.New(), all.Protocols())) }
