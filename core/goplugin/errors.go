package goplugin

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/netmatrix/netmatrix/core/control"
)

// goneWait is how long a broken connection waits for its process to be reaped,
// so that the error can tell how it ended. A plugin that lives on without its
// connection is of no use and is killed then.
const goneWait = time.Second

// remoteError is what a plugin answered: its own words, and the error of ours,
// if any, that it stands for.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

// toStatus puts a plugin's error on the wire. Unsupported shares its code with
// a method that a plugin does not have: both mean that it cannot do this.
func toStatus(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, control.ErrUnsupported):
		return status.Error(codes.Unimplemented, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err // gRPC's own, as from its health service
	}
	return status.Error(codes.Unknown, err.Error())
}

// fromStatus takes an error off the wire. Of a connection that broke it only
// says so; translateErrors adds how the process ended.
func fromStatus(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unimplemented:
		return &remoteError{s.Message(), control.ErrUnsupported}
	case codes.DeadlineExceeded:
		return &remoteError{"no answer in time: " + s.Message(), context.DeadlineExceeded}
	case codes.Canceled:
		if ctx.Err() != nil {
			return &remoteError{s.Message(), ctx.Err()}
		}
		return &remoteError{s.Message(), control.ErrPluginGone}
	case codes.Unavailable:
		return &remoteError{s.Message(), control.ErrPluginGone}
	}
	return &remoteError{s.Message(), nil}
}

// translateErrors is the interceptor of every call to c's process.
func translateErrors(c *child) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := fromStatus(ctx, call(ctx, method, in, out, conn, opts...))
		if !errors.Is(err, control.ErrPluginGone) {
			return err
		}
		select {
		case <-c.done:
			return c.gone()
		case <-time.After(goneWait):
			c.kill()
			return &remoteError{"plugin gone: the connection to " + c.name + " broke: " + err.Error(), control.ErrPluginGone}
		}
	}
}
