package websocket_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/transport"
)

// payloads are lengths on both sides of where the form of a length changes.
var payloads = []int{16, 125, 126, 127, 1000, 65535, 65536, 70 << 10}

// A client of the library, which reads and writes as blocking connections do,
// talks to our server.
func TestForeignClient(t *testing.T) {
	for _, execution := range []string{"callback", "goroutine"} {
		t.Run(execution, func(t *testing.T) {
			addr := serve(t, transport.Config{Execution: execution})
			dialer := ws.Dialer{Timeout: patience}
			conn, behind, _, err := dialer.Dial(context.Background(), "ws://"+addr+"/any")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(patience))
			if behind != nil {
				t.Fatal("the server said something before it was asked")
			}
			in := bufio.NewReader(conn)
			for _, n := range payloads {
				talk(t, conn, in, ws.OpBinary, n)
				talk(t, conn, in, ws.OpText, n)
			}
			ws.MustWriteFrame(conn, ws.MaskFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(4321, "enough"))))
			f, err := readFrame(in)
			if code, reason := ws.ParseCloseFrameData(f.Payload); err != nil || f.Header.OpCode != ws.OpClose || code != 4321 || reason != "" {
				t.Errorf("a close was answered with %+v, error %v", f, err)
			}
			if n, err := in.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
				t.Errorf("behind the close came %d bytes, error %v; want the end", n, err)
			}
		})
	}
}

// talk sends a message in two fragments with a ping between them.
func talk(t *testing.T, conn io.Writer, in io.Reader, op ws.OpCode, n int) {
	t.Helper()
	payload := bytes.Repeat([]byte("payload."), n/8+1)[:n]
	for _, f := range []ws.Frame{
		ws.NewFrame(op, false, payload[:n/2]), ws.NewPingFrame([]byte("there?")), ws.NewFrame(ws.OpContinuation, true, payload[n/2:]),
	} {
		if err := ws.WriteFrame(conn, ws.MaskFrame(f)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []ws.Frame{ws.NewPongFrame([]byte("there?")), ws.NewFrame(op, true, payload)} {
		got, err := readFrame(in)
		if err != nil || got.Header != want.Header || !bytes.Equal(got.Payload, want.Payload) {
			t.Fatalf("opcode %d of %d bytes: got %+v, error %v; want %+v", op, n, got.Header, err, want.Header)
		}
	}
}

// Our load talks to a server of the library, which asks for pongs meanwhile and
// answers in fragments.
func TestForeignServer(t *testing.T) {
	addr := foreignServer(t)
	var sent int64
	for _, n := range payloads {
		sent += measure(t, addr, n)
	}
	if sent == 0 {
		t.Error("nothing was sent but the first exchanges")
	}
}

func foreignServer(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				if err := foreignEcho(conn); err != nil {
					t.Errorf("the library's server: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

// foreignEcho ends without an error when the connection does.
func foreignEcho(conn net.Conn) error {
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := ws.Upgrade(conn); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	rng := rand.New(rand.NewPCG(1, 2))
	for pings := 0; ; {
		f, err := readFrame(in)
		if err != nil {
			return nil
		}
		if err := ws.CheckHeader(f.Header, ws.StateServerSide); err != nil {
			return err
		}
		f = ws.UnmaskFrameInPlace(f)
		if f.Header.OpCode == ws.OpPong {
			if string(f.Payload) != "there?" || pings == 0 {
				return fmt.Errorf("pong %q after %d pings", f.Payload, pings)
			}
			pings--
			continue
		}
		pings++
		out := new(bytes.Buffer)
		cut := rng.IntN(len(f.Payload) + 1)
		ws.MustWriteFrame(out, ws.NewFrame(ws.OpBinary, false, f.Payload[:cut]))
		ws.MustWriteFrame(out, ws.NewPingFrame([]byte("there?")))
		ws.MustWriteFrame(out, ws.NewFrame(ws.OpContinuation, true, f.Payload[cut:]))
		if _, err := conn.Write(out.Bytes()); err != nil {
			return nil
		}
	}
}
