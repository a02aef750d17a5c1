package coroutine

import (
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

func TestConformance(t *testing.T) {
	conformance.TestRuntime(t, func(*testing.T) transport.Runtime { return New() })
}

func BenchmarkEcho(b *testing.B) {
	conformance.BenchmarkEcho(b, func(*testing.B) transport.Runtime { return New() })
}
