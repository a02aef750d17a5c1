package websocket_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/transport"
)

// peers returns a folder with the scripts of test/peers/websocket and what they
// import.
func peers(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("npm ci takes seconds")
	}
	for _, command := range []string{"node", "npm"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("no peers in Node: %v", err)
		}
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "test", "peers", "websocket"))); err != nil {
		t.Fatal(err)
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir, npm.WaitDelay = dir, time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("no peers in Node: npm ci: %v\n%s", err, out)
	}
	return dir
}

func TestNode(t *testing.T) {
	dir := peers(t)
	for _, execution := range []string{"callback", "goroutine"} {
		t.Run("client "+execution, func(t *testing.T) {
			addr := serve(t, transport.Config{Execution: execution})
			node := exec.CommandContext(t.Context(), "node", "client.js", "ws://"+addr)
			node.Dir, node.WaitDelay = dir, time.Second
			if out, err := node.CombinedOutput(); err != nil || string(out) != "good\n" {
				t.Errorf("the client in Node: %v\n%s", err, out)
			}
		})
	}
	t.Run("server", func(t *testing.T) {
		port, said := nodeServer(t, dir)
		var sent int64
		for _, n := range payloads {
			sent += measure(t, "127.0.0.1:"+port, n)
			for range clients {
				if got, want := said(), "closed 1006 0 pings unanswered"; got != want {
					t.Errorf("payload %d: the server says %q, want %q", n, got, want)
				}
			}
		}
		if sent == 0 {
			t.Error("nothing was sent but the first exchanges")
		}
	})
	t.Run("server that closes", func(t *testing.T) {
		port, said := nodeServer(t, dir, "50")
		l, d := dial(t, "127.0.0.1:"+port, 1000)
		if err := l.Start([]control.Slice{{Length: int64(patience), Counted: true}}); err != nil {
			t.Fatal(err)
		}
		d.Wake()
		wait(t, "the end of both connections", l.Done())
		res, err := l.Result()
		if err != nil {
			t.Fatal(err)
		}
		counts := res.Targets[0].Counts
		if counts[control.CountDisconnects] != clients || counts[control.CountContent] != 0 {
			t.Errorf("counts %v, want %d disconnects and nothing wrong in content", counts, clients)
		}
		for range clients {
			if got, want := said(), "closed 1001 0 pings unanswered"; got != want {
				t.Errorf("the server says %q, want %q", got, want)
			}
		}
	})
}

// nodeServer starts the server in Node; said is the next line it prints.
func nodeServer(t *testing.T, dir string, args ...string) (port string, said func() string) {
	t.Helper()
	node := exec.Command("node", append([]string{"server.js"}, args...)...)
	node.Dir, node.Stderr = dir, os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		if err := node.Wait(); err != nil {
			t.Errorf("the server in Node: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	said = func() string {
		if !lines.Scan() {
			return fmt.Sprintf("nothing more: %v", lines.Err())
		}
		return lines.Text()
	}
	port, ok := strings.CutPrefix(said(), "port ")
	if !ok {
		t.Fatal("the server in Node does not say where it listens")
	}
	return port, said
}
