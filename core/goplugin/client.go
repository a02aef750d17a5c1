package goplugin

import (
	"context"

	"google.golang.org/grpc"

	"github.com/netmatrix/netmatrix/core/control"
	pb "github.com/netmatrix/netmatrix/core/goplugin/proto"
)

// client is a control.Plugin at the driver's end of a connection. Errors are
// translated by the connection's interceptor, so none is handled here.
type client struct {
	rpc pb.PluginClient
}

var _ control.Plugin = (*client)(nil)

func newClient(conn grpc.ClientConnInterface) *client {
	return &client{rpc: pb.NewPluginClient(conn)}
}

func (c *client) Describe(ctx context.Context) (control.Description, error) {
	d, err := c.rpc.Describe(ctx, &pb.Empty{})
	if err != nil {
		return control.Description{}, err
	}
	return descriptionFromProto(d), nil
}

func (c *client) Prepare(ctx context.Context, s control.Setup) (control.Ready, error) {
	r, err := c.rpc.Prepare(ctx, setupToProto(s))
	if err != nil {
		return control.Ready{}, err
	}
	return readyFromProto(r), nil
}

func (c *client) Inspect(ctx context.Context) (control.Counters, error) {
	n, err := c.rpc.Inspect(ctx, &pb.Empty{})
	if err != nil {
		return control.Counters{}, err
	}
	return countersFromProto(n), nil
}

func (c *client) Measure(ctx context.Context, plan []control.Slice) (control.Result, error) {
	r, err := c.rpc.Measure(ctx, planToProto(plan))
	if err != nil {
		return control.Result{}, err
	}
	return resultFromProto(r), nil
}

func (c *client) Stop(ctx context.Context) error {
	_, err := c.rpc.Stop(ctx, &pb.Empty{})
	return err
}
