package http1_test

import (
	"context"
	"crypto/tls"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// TestPeers runs a short form of each script with a client that nobody here
// wrote.
func TestPeers(t *testing.T) {
	scripts, err := filepath.Abs("../../../test/peers/http")
	if err != nil {
		t.Fatal(err)
	}
	lender := httptest.NewTLSServer(nil) // of a certificate
	t.Cleanup(lender.Close)
	cfg := &tls.Config{Certificates: lender.TLS.Certificates}
	server := echo.NewServer(echo.Config{Protocol: http1.Protocol()})
	plain := "http://" + serveSockets(t, transport.Config{}, server.Session) + "/echo"
	secured := "https://" + serveSockets(t, transport.Config{}, func() transport.Session {
		return tlslayer.Server(server.Session(), cfg)
	}) + "/echo"
	for name, tc := range map[string]struct {
		tool string
		args []string // of the tool's script
	}{
		"curl":     {"curl", []string{plain}},
		"curl tls": {"curl", []string{secured, "--insecure"}},
		"wrk":      {"wrk", []string{plain, "1"}},
		"h2load":   {"h2load", []string{plain, "2000"}},
		"ab":       {"ab", []string{plain, "2000"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(tc.tool); err != nil {
				t.Skipf("%s is not here: run %s", tc.tool, filepath.Join(scripts, "install.sh"))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(scripts, tc.tool+".sh"), tc.args...)
			cmd.WaitDelay = time.Second // for what the script has started
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
