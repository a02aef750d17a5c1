package goplugin

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/netmatrix/netmatrix/core/control"
)

func TestErrorsCrossTheWire(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		is   error // nil: none of those that keep their identity
		text string
	}{
		{"unsupported", t.Context(), fmt.Errorf("cell: %w: no udp", control.ErrUnsupported), control.ErrUnsupported, "cell: unsupported: no udp"},
		{"words", t.Context(), errors.New("address in use"), nil, "address in use"},
		{"deadline", t.Context(), fmt.Errorf("dial: %w", context.DeadlineExceeded), context.DeadlineExceeded, "no answer in time: dial: context deadline exceeded"},
		{"method missing", t.Context(), status.Error(codes.Unimplemented, "no such method"), control.ErrUnsupported, "no such method"},
		{"we cancelled", cancelled, status.Error(codes.Canceled, "stop"), context.Canceled, "stop"},
		{"closed under us", t.Context(), status.Error(codes.Canceled, "closing"), control.ErrPluginGone, "closing"},
		{"broken", t.Context(), status.Error(codes.Unavailable, "EOF"), control.ErrPluginGone, "EOF"},
		{"foreign code", t.Context(), status.Error(codes.Internal, "odd"), nil, "odd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fromStatus(c.ctx, toStatus(c.err))
			if got.Error() != c.text {
				t.Errorf("text = %q, want %q", got, c.text)
			}
			for _, kind := range []error{control.ErrUnsupported, control.ErrPluginGone, context.Canceled, context.DeadlineExceeded} {
				if is, want := errors.Is(got, kind), kind == c.is; is != want {
					t.Errorf("is %q: %v, want %v", kind, is, want)
				}
			}
		})
	}
	if err := fromStatus(t.Context(), toStatus(nil)); err != nil {
		t.Errorf("no error became %v", err)
	}
}
