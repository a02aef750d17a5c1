package goplugin

import (
	"context"

	"github.com/netmatrix/netmatrix/core/control"
	pb "github.com/netmatrix/netmatrix/core/goplugin/proto"
)

// server hands the calls that arrive to the plugin. It recovers nothing: a
// panic must end the process with its stack on stderr, where the driver finds
// it. Errors are translated by the server's interceptor.
type server struct {
	pb.UnimplementedPluginServer
	plugin control.Plugin
}

func (s *server) Describe(ctx context.Context, _ *pb.Empty) (*pb.Description, error) {
	d, err := s.plugin.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return descriptionToProto(d), nil
}

func (s *server) Prepare(ctx context.Context, in *pb.Setup) (*pb.Ready, error) {
	r, err := s.plugin.Prepare(ctx, setupFromProto(in))
	if err != nil {
		return nil, err
	}
	return readyToProto(r), nil
}

func (s *server) Inspect(ctx context.Context, _ *pb.Empty) (*pb.Counters, error) {
	n, err := s.plugin.Inspect(ctx)
	if err != nil {
		return nil, err
	}
	return countersToProto(n), nil
}

func (s *server) Measure(ctx context.Context, in *pb.Plan) (*pb.Result, error) {
	r, err := s.plugin.Measure(ctx, planFromProto(in))
	if err != nil {
		return nil, err
	}
	return resultToProto(r), nil
}

func (s *server) Stop(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	return &pb.Empty{}, s.plugin.Stop(ctx)
}
