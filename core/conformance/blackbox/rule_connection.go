package blackbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"

	"github.com/netmatrix/netmatrix/core/control"
)

// connectionRules are about many connections and about how one ends.
var connectionRules = []Rule{
	{"Connections", "answers each of many connections, and counts them exactly", streams, keepsConnections},
	{"HalfClose", "still sends its answers when the peer has ended its side, then ends its own", streams, halfCloses},
	{"Reset", "closes a connection that its peer resets, and no other", streams, survivesReset},
	{"Garbage", "closes a connection whose peer breaks the protocol, and no other", streams, survivesGarbage},
}

// closing is how long a connection may take to end: one second for a runtime to
// drop what still comes, the rest for a busy machine.
const closing = patience

// wantLive waits until the plugin counts so many live connections.
func (e *env) wantLive(want int64) error {
	return e.eventually(closing, func() error {
		c, err := e.inspect()
		if err == nil && c.Live >= 0 && c.Live != want {
			err = fmt.Errorf("it counts %d live connections where there are %d", c.Live, want)
		}
		return err
	})
}

func keepsConnections(e *env) (string, error) {
	n := e.scale(1000, 200)
	const payload = 64
	if err := e.serve(payload, func(s *control.Setup) { s.Cell.Clients = n }); err != nil {
		return "", err
	}
	peers := make([]*peer, n)
	err := each(n, func(id int) (err error) {
		if peers[id], err = e.dial(id); err != nil {
			return err
		}
		return peers[id].exchange(0, 1)
	})
	if err == nil { // once more, all being open
		err = each(n, func(id int) error { return peers[id].exchange(1, 1) })
	}
	if err != nil {
		return "", err
	}
	c, err := e.inspect()
	if err != nil {
		return "", err
	}
	if c.Accepted >= 0 && c.Accepted != int64(n) {
		return "", fmt.Errorf("it counts %d accepted connections where there were %d", c.Accepted, n)
	}
	if err := e.wantLive(int64(n)); err != nil {
		return "", err
	}
	for _, p := range peers {
		p.close()
	}
	if err := e.wantLive(0); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d answered twice; accepted %s, live %s, then 0", n, counted(c.Accepted), counted(c.Live)), nil
}

func halfCloses(e *env) (string, error) {
	const messages = 64
	for _, size := range []int{64, 64 << 10} {
		if err := e.serve(size, func(s *control.Setup) { s.Cell.Window = messages }); err != nil {
			return "", err
		}
		p, err := e.dial(0)
		if err != nil {
			return "", err
		}
		sent := make(chan error, 1)
		go func() { sent <- errors.Join(p.ask(0, messages), p.hangUp()) }()
		if err := p.answers(0, messages); err != nil {
			return "", fmt.Errorf("messages of %d bytes and the end behind them: %w", size, err)
		}
		if err := <-sent; err != nil {
			return "", err
		}
		switch _, err := p.receive(closing); {
		case err == nil:
			return "", errors.New("one more message came behind the last answer")
		case errors.Is(err, os.ErrDeadlineExceeded):
			return "", fmt.Errorf("all was answered, but its own side has not ended within %v", closing)
		case !errors.Is(err, io.EOF):
			return "", fmt.Errorf("behind the last answer came no clean end: %w", err)
		case len(p.in) > 0:
			return "", fmt.Errorf("behind the last answer came %d more bytes", len(p.in))
		}
	}
	return fmt.Sprintf("%d answers after the end, then its own end", messages), nil
}

// survivesReset resets connections with answers under way.
func survivesReset(e *env) (string, error) {
	const staying, leaving = 4, 8
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	stay := make([]*peer, staying)
	for id := range stay {
		var err error
		if stay[id], err = e.dial(id); err != nil {
			return "", err
		}
	}
	err := each(leaving, func(i int) error {
		p, err := e.dial(staying + i)
		if err == nil {
			err = p.ask(0, plainWindow)
		}
		if err != nil {
			return err
		}
		p.reset()
		return nil
	})
	if err == nil {
		err = e.wantLive(staying)
	}
	if err == nil {
		err = each(staying, func(id int) error { return stay[id].exchange(0, plainWindow) })
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d reset, the other %d went on", leaving, staying), nil
}

// rubbish is bytes that no protocol takes for its own, or too few of them.
type rubbish struct {
	name  string
	bytes []byte
	ends  bool // and then the end of the stream
}

func garbage() []rubbish {
	random := make([]byte, 4096)
	var key [32]byte
	rand.NewChaCha8(key).Read(random)
	random[0] = 0xff // no length of a frame, no record, no method
	return []rubbish{
		{"bytes of all ones", append(bytes.Repeat([]byte{0xff}, 256), "\r\n\r\n"...), false},
		{"random bytes", append(random, "\r\n\r\n"...), false},
		{"a message that ends with its first byte", []byte{0}, true},
	}
}

func survivesGarbage(e *env) (string, error) {
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	neighbour, err := e.dial(0)
	if err != nil {
		return "", err
	}
	kinds := garbage()
	err = each(len(kinds), func(i int) error {
		if err := e.endsAfter(kinds[i]); err != nil {
			return fmt.Errorf("%s: %w", kinds[i].name, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := neighbour.exchange(0, plainWindow); err != nil {
		return "", fmt.Errorf("the neighbour: %w", err)
	}
	if err := e.wantLive(1); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d kinds of garbage closed their own connection only", len(kinds)), nil
}

// endsAfter sends r on a bare socket and waits for the plugin to close it.
func (e *env) endsAfter(r rubbish) error {
	d := net.Dialer{Timeout: patience}
	socket, err := d.DialContext(e.ctx, e.protocol.Network, e.addrs[0])
	if err != nil {
		return err
	}
	e.owns(socket)
	p := &peer{env: e, socket: socket, conn: socket, buf: make([]byte, 4096)}
	if err := p.write(r.bytes); err != nil {
		return err
	}
	if r.ends {
		if err := p.hangUp(); err != nil {
			return err
		}
	}
	for err == nil { // a refusal in the protocol's words may come first
		err = p.read(closing)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the connection is still open after %v", closing)
	}
	return nil
}
