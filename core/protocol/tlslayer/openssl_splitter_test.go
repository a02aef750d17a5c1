package tlslayer_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// splitter builds the peer over libssl that sends byte by byte, or skips the
// test where a compiler or libssl's headers are missing.
func splitter(t *testing.T) (path string) {
	t.Helper()
	header := exec.CommandContext(t.Context(), "cc", "-E", "-")
	header.Stdin = strings.NewReader("#include <openssl/ssl.h>\n")
	if out, err := header.CombinedOutput(); err != nil {
		t.Skipf("no peer over libssl: a C compiler and libssl-dev are needed: %v\n%s", err, out[:min(len(out), 500)])
	}
	path = filepath.Join(t.TempDir(), "splitter")
	source := filepath.Join("..", "..", "..", "test", "peers", "openssl", "splitter.c")
	if out, err := exec.CommandContext(t.Context(), "cc", "-Wall", "-Werror", source, "-o", path, "-lssl", "-lcrypto").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func (p *program) wantGood() {
	p.t.Helper()
	if rest, status := p.wait(); status != 0 || rest != "good\n" {
		p.t.Errorf("the splitter: exit status %d, says %q\n%s", status, rest, &p.stderr)
	}
}

func TestByteByByte(t *testing.T) {
	path := splitter(t)
	tr := newTrust(t)
	for _, execution := range executions {
		t.Run("client "+execution, func(t *testing.T) {
			port, closed := tr.serveSockets(t, execution, echoSession)
			tr.start(t, path, "client", "ca.pem", "localhost", port, "1500", "5").wantGood()
			if e := awaitEnding(t, closed); !e.Ended || e.Err != nil {
				t.Errorf("the server's session: %+v, want its End and no error", e)
			}
		})
	}
	b := pattern(10000)
	t.Run("server", func(t *testing.T) {
		p, port := tr.splitterServer(t, path, len(b)+1)
		ask, got := asker(b)
		if e := awaitEnding(t, dialSockets(t, port, ask, tr.client)); e.Err != nil {
			t.Errorf("the client was closed with %v", e.Err)
		}
		if !bytes.Equal(*got, b) {
			t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
		}
		p.wantGood()
	})
	t.Run("server that closes", func(t *testing.T) {
		p, port := tr.splitterServer(t, path, len(b))
		ask, got := asker(append(bytes.Clone(b), "unanswered"...))
		if e := awaitEnding(t, dialSockets(t, port, ask, tr.client)); !e.Ended || e.Err != nil {
			t.Errorf("the client's session: %+v, want its End and no error", e)
		}
		if !bytes.Equal(*got, b) {
			t.Errorf("%d bytes came back, want %d, the same", len(*got), len(b))
		}
		p.wantGood()
	})
}

// splitterServer starts the splitter as a server that closes once it has echoed
// a number of bytes.
func (tr *trust) splitterServer(t *testing.T, path string, most int) (p *program, port string) {
	t.Helper()
	p = tr.start(t, path, "server", "cert.pem", "key.pem", strconv.Itoa(most))
	line, err := p.out.ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "port ")
	if !ok {
		t.Fatalf("the splitter says %q instead of its port: %v", line, err)
	}
	return p, port
}
