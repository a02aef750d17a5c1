// Package goplugin carries the control plane between the driver and plugin
// processes, and owns the start, CPU placement and death of those processes.
//
// A plugin's main calls Serve. The driver makes one Host for its run and starts
// every plugin with it; a Process is a control.Plugin whose calls travel over
// gRPC. The package knows processes, sockets and protobuf. It must not know
// what a call means: cells, traffic and measuring belong to others.
//
// Note: go-plugin does the handshake, the negotiation of the contract's version
// and the serving. The exec, the gRPC connection and the kill are ours: its
// client lets the host's environment win, waits up to two seconds in a kill,
// streams stdio over the connection that has to stay silent while a plugin
// measures, and never closes the connection to a plugin that dies between
// handshake and first call.
package goplugin

//go:generate sh proto/generate.sh

import (
	"context"
	"errors"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/netmatrix/netmatrix/core/control"
	pb "github.com/netmatrix/netmatrix/core/goplugin/proto"
)

// pluginSet is the one plugin that a process serves; the name is never shown.
func pluginSet(p control.Plugin) plugin.PluginSet {
	return plugin.PluginSet{"control": &glue{plugin: p}}
}

// glue is what go-plugin calls to register the service.
type glue struct {
	plugin.NetRPCUnsupportedPlugin
	plugin control.Plugin // nil on the host
}

var _ plugin.GRPCPlugin = (*glue)(nil)

func (g *glue) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if g.plugin == nil {
		return errors.New("no plugin to serve: goplugin.Serve was given nil")
	}
	pb.RegisterPluginServer(s, &server{plugin: g.plugin})
	return nil
}

// GRPCClient serves hosts that load a plugin through go-plugin's own client.
func (g *glue) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return newClient(conn), nil
}
