package rawpoll_test

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

func TestConformance(t *testing.T) {
	conformance.TestRuntime(t, func(*testing.T) transport.Runtime { return rawpoll.New() })
}
