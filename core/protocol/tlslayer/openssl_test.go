package tlslayer_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/authority"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
	"github.com/netmatrix/netmatrix/runtimes/rawpoll"
)

// patience bounds every wait for something that should come at once.
const patience = 30 * time.Second

var executions = []string{"callback", "goroutine"}

// trust is a certificate, who vouches for it and who does not, for both ends.
type trust struct {
	dir            string // ca.pem, cert.pem, key.pem; other.pem: another authority's
	server, client *tls.Config
	stranger       *tls.Config // a client that trusts the other authority
}

func newTrust(t *testing.T) *trust {
	t.Helper()
	certs, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	other, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	tr := &trust{dir: t.TempDir(), client: trusting(certs.CA), stranger: trusting(other.CA)}
	for name, pem := range map[string][]byte{"ca.pem": certs.CA, "cert.pem": certs.Cert, "key.pem": certs.Key, "other.pem": other.CA} {
		if err := os.WriteFile(filepath.Join(tr.dir, name), pem, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certs.Cert, certs.Key)
	if err != nil {
		t.Fatal(err)
	}
	tr.server = &tls.Config{Certificates: []tls.Certificate{pair}}
	return tr
}

func trusting(ca []byte) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, ServerName: "localhost"}
}

// program is a peer in a process of its own.
type program struct {
	t        *testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   bytes.Buffer // to be read after wait
	messages string       // of openssl: the file that lists what TLS said
}

// start runs a program in the folder of tr.
func (tr *trust) start(t *testing.T, path string, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := &program{t: t, cmd: exec.CommandContext(ctx, path, args...)}
	p.cmd.Dir, p.cmd.Stderr = tr.dir, &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			cancel()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// openssl runs one of its commands, or skips the test where there is none of
// version 3 or later.
func (tr *trust) openssl(t *testing.T, command string, args ...string) *program {
	t.Helper()
	version, err := exec.Command("openssl", "version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("OpenSSL ")) || bytes.HasPrefix(version, []byte("OpenSSL 1.")) {
		t.Skipf("no peer: OpenSSL 3 or later is needed, here is %q (%v)", version, err)
	}
	messages := filepath.Join(t.TempDir(), "messages")
	p := tr.start(t, "openssl", append([]string{command, "-msg", "-msgfile", messages}, args...)...)
	p.messages = messages
	return p
}

// wait reads the rest of the output and returns it with the exit status.
func (p *program) wait() (rest string, status int) {
	p.t.Helper()
	b, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Error(err)
	}
	_ = p.cmd.Wait() // the status says it all
	return string(b), p.cmd.ProcessState.ExitCode()
}

// wantEnd holds a program to an exit status and to having said something on its
// standard error.
func (p *program) wantEnd(status int, complaint string) {
	p.t.Helper()
	if rest, got := p.wait(); got != status || !strings.Contains(p.stderr.String(), complaint) {
		p.t.Errorf("%v: exit status %d, want %d and the words %q\n%s%s", p.cmd, got, status, complaint, rest, &p.stderr)
	}
}

func (p *program) write(b []byte) {
	p.t.Helper()
	if _, err := p.in.Write(b); err != nil {
		p.t.Fatalf("%v: %v\n%s", p.cmd, err, &p.stderr)
	}
}

// The directions of messages as openssl lists them.
const (
	sent     = ">>>"
	received = "<<<"
)

// count is how many messages openssl has listed so far.
func (p *program) count(direction, message string) (n int) {
	p.t.Helper()
	list, err := os.ReadFile(p.messages)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, direction) && strings.Contains(line, message) {
			n++
		}
	}
	return n
}

// awaitMessage waits until openssl has listed a message.
func (p *program) awaitMessage(direction, message string) {
	p.t.Helper()
	await(p.t, fmt.Sprint(direction, " ", message), func() bool { return p.count(direction, message) > 0 })
}

// wantMessage holds openssl, which has ended, to having listed a message.
func (p *program) wantMessage(direction, message string) {
	p.t.Helper()
	if p.count(direction, message) == 0 {
		list, _ := os.ReadFile(p.messages)
		p.t.Errorf("openssl lists no %s %s:\n%s", direction, message, list)
	}
}

// await polls until something has come about.
func await(t *testing.T, what string, come func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !come(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// frame is a message as tcp frames it.
func frame(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// watched tells how the session in it ended.
type watched struct {
	transport.Session
	opened, ended bool
	closed        chan<- ending
}

type ending struct {
	Opened, Ended bool // it had its Open, its End
	Err           error
}

func (w *watched) Open(out []byte) ([]byte, error) {
	w.opened = true
	return w.Session.Open(out)
}

func (w *watched) End(out []byte) ([]byte, error) {
	w.ended = true
	return w.Session.End(out)
}

func (w *watched) Close(err error) {
	w.Session.Close(err)
	w.closed <- ending{w.opened, w.ended, err}
}

func awaitEnding(t *testing.T, closed <-chan ending) ending {
	t.Helper()
	select {
	case e := <-closed:
		return e
	case <-time.After(patience):
		t.Fatal("the session is still open")
		return ending{}
	}
}

// dialSockets connects one session, under TLS, over a real socket.
func dialSockets(t *testing.T, port string, inner transport.Session, cfg *tls.Config) (closed <-chan ending) {
	t.Helper()
	ends := make(chan ending, 1)
	g := dialLayer(t, port, &watched{Session: inner, closed: ends}, cfg, transport.Config{})
	t.Cleanup(func() { g.Close() })
	return ends
}

func dialLayer(t *testing.T, port string, inner transport.Session, cfg *tls.Config, c transport.Config) transport.Group {
	t.Helper()
	g, err := rawpoll.New().Dial(c, []string{"127.0.0.1:" + port}, []transport.Session{tlslayer.Client(inner, cfg)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
