package udp

import (
	"bytes"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
)

// TestOneDatagramOneMessage cuts what a runtime hands over by the datagram: the
// message is the datagram, in place, and nothing is kept for the next.
func TestOneDatagramOneMessage(t *testing.T) {
	p := Protocol()
	client, server := p.Client(), p.Server()
	var inbox protocol.Inbox
	for _, n := range []int{1, 16, 64, 1400, MaxPayload} {
		body := bytes.Repeat([]byte{byte(n)}, n-1)
		datagram := client.Append(nil, []byte("h"), body)
		if got, want := len(datagram), n+p.Overhead; got != want {
			t.Fatalf("a message of %d bytes takes a datagram of %d, want %d", n, got, want)
		}
		msg, used, out, err := inbox.Next(server, datagram, nil)
		if err != nil || used != n || len(out) > 0 {
			t.Fatalf("%d bytes: used %d, answer %q, error %v", n, used, out, err)
		}
		if &msg[0] != &datagram[0] || len(msg) != n {
			t.Errorf("%d bytes: the message is not the datagram itself", n)
		}
		if !inbox.Empty() {
			t.Errorf("%d bytes: something is kept for the next datagram", n)
		}
	}
}

// TestMirrors is what Mirror promises: an answer reads like its request.
func TestMirrors(t *testing.T) {
	p := Protocol()
	if !p.Mirror || !p.Datagram {
		t.Fatalf("Mirror is %t and Datagram is %t, want both", p.Mirror, p.Datagram)
	}
	head, body := []byte("head of a message"), []byte("body")
	if up, down := p.Client().Append(nil, head, body), p.Server().Append(nil, head, body); !bytes.Equal(up, down) {
		t.Errorf("the client frames %q, the server %q", up, down)
	}
}

// FuzzNext has any datagram whatever be a message.
func FuzzNext(f *testing.F) {
	f.Add(codec{}.Append(nil, []byte("head"), []byte("body")), []byte("before"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, datagram, out []byte) {
		msg, used, o, err := codec{}.Next(datagram, out)
		if err != nil || used != len(datagram) || !bytes.Equal(msg, datagram) || !bytes.Equal(o, out) {
			t.Errorf("%d bytes gave a message of %d, used %d, answer %q, error %v", len(datagram), len(msg), used, o, err)
		}
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	c := Protocol().Client()
	out, head, body := make([]byte, 0, 1024), make([]byte, 16), make([]byte, 1008)
	if allocs := testing.AllocsPerRun(100, func() { c.Append(out, head, body) }); allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}
