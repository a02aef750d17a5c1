package netpoll

import (
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

func TestPollersAreSetUpOncePerProcess(t *testing.T) {
	for _, c := range []struct {
		config transport.Config
		want   string // in the error; empty: none
	}{
		{transport.Config{}, ""},
		{transport.Config{IOModel: "sharded", Threads: 2}, "new process"},
	} {
		_, err := prepare(c.config)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q in it", c.config, err, c.want)
		}
	}
}

func BenchmarkEcho(b *testing.B) {
	conformance.BenchmarkEcho(b, func(*testing.B) transport.Runtime { return New() })
}
