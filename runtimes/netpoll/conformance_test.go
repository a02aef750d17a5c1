package netpoll

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/transport"
)

// child is set in a process that tests one IO model.
const child = "NETMATRIX_NETPOLL_CONFORMANCE"

// The library's pollers are set up once a process, so each IO model is tested
// in a process of its own.
func TestConformance(t *testing.T) {
	if os.Getenv(child) != "" {
		conformance.TestRuntime(t, func(*testing.T) transport.Runtime { return New() })
		return
	}
	for _, model := range []string{"shared", "sharded"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			args := []string{"-test.run=^TestConformance$/-" + model + "-"}
			for _, flag := range os.Args[1:] { // coverage and time limits hold for the child too
				if !strings.HasPrefix(flag, "-test.run=") {
					args = append(args, flag)
				}
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			cmd.Env = append(os.Environ(), child+"="+model)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
