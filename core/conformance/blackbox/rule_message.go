package blackbox

import (
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/message"
)

// messageRules are about what comes back.
var messageRules = []Rule{
	{"Serves", "prepares for what it claims, listens and answers", serves, answersOne},
	{"Integrity", "gives back every byte unchanged, however the stream is cut", serves, keepsBytes},
	{"Sizes", "answers messages of every size, those around buffers' ends too", serves, answersSizes},
	{"Once", "answers every message once, and on a stream in order", serves, answersOnce},
	{"Work", "does the work for every message", serves, doesWork},
	{"Batch", "answers a batch when all of it is in, and not before", batches, answersBatches},
	{"Counts", "counts messages and reads exactly", serves, countsExactly},
}

// batches: the pattern is for protocols without framing of their own.
func batches(e *env) bool {
	return streams(e) && (e.protocol.Name == "tcp" || e.protocol.Name == "tcps") && !lacks(e.plugin.Info, "pattern", cell.Batch)
}

func plainBodies() *message.Bodies { return message.NewBodies(seed, plainPayload) }

func answersOne(e *env) (string, error) {
	if err := e.serve(nil); err != nil {
		return "", err
	}
	p, err := e.dial(0)
	if err != nil {
		return "", err
	}
	if err := p.exchange(plainBodies(), 0, 1); err != nil {
		return "", err
	}
	return fmt.Sprintf("listens at %v", e.addrs), nil
}

// keepsBytes: a few messages cut badly, then many in windows.
func keepsBytes(e *env) (string, error) {
	if err := e.serve(nil); err != nil {
		return "", err
	}
	if !e.protocol.Datagram {
		for _, c := range []struct {
			name string
			cut  cut
			glue int // messages written together
		}{
			{"whole", nil, 1},
			{"a byte at a time", byteAtATime, 1},
			{"glued together", nil, 20},
			{"at random places", randomly(), 20},
		} {
			if err := e.exchangeCut(c.cut, c.glue); err != nil {
				return "", fmt.Errorf("written %s: %w", c.name, err)
			}
		}
	}
	peers, windows := 4, e.scale(200, 50)
	err := each(peers, func(i int) error { return e.windows(i, windows, plainBodies()) })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d messages of %d bytes came back whole", peers*windows*plainWindow, plainPayload), nil
}

func (e *env) exchangeCut(c cut, glue int) error {
	p, err := e.dialCut(0, c)
	if err != nil {
		return err
	}
	defer p.close()
	const messages = 20
	bodies := message.NewBodies(seed, 200)
	for i := 0; i < messages; i += glue {
		if err := p.exchange(bodies, uint32(i), glue); err != nil {
			return err
		}
	}
	return nil
}

// windows exchanges n windows of messages on a new connection.
func (e *env) windows(id, n int, bodies *message.Bodies) error {
	p, err := e.dial(id)
	if err != nil {
		return err
	}
	defer p.close()
	for w := range n {
		if err := p.exchange(bodies, uint32(w*plainWindow), plainWindow); err != nil {
			return err
		}
	}
	return nil
}

// answersSizes: the size of a datagram is told to Prepare, so each has its own
// process.
func answersSizes(e *env) (string, error) {
	const kib = 1 << 10
	sizes := []int{
		16, 17, 64, 1000, 1460, 4*kib - 1, 4 * kib, 4*kib + 1, 16*kib - 1, 16 * kib, 16*kib + 1,
		64*kib - 29, 64*kib - 1, 64 * kib, 64*kib + 1, 256*kib - 1, 256 * kib, 256*kib + 1, 1 << 20,
	}
	tried, largest := 0, 0
	for _, size := range sizes {
		if size > e.protocol.MaxPayload {
			continue
		}
		if tried == 0 || e.protocol.Datagram {
			if err := e.serve(func(s *control.Setup) { s.Cell.Payload = size }); err != nil {
				return "", err
			}
		}
		p, err := e.dial(tried)
		if err != nil {
			return "", err
		}
		for i := range uint32(2) {
			if err := p.exchange(message.NewBodies(seed, size), i, 1); err != nil {
				return "", fmt.Errorf("messages of %d bytes: %w", size, err)
			}
		}
		p.close()
		tried, largest = tried+1, size
	}
	return fmt.Sprintf("%d sizes up to %s", tried, cell.Bytes(largest)), nil
}

// answersOnce looks at the headers only: a wrong byte is another rule's.
func answersOnce(e *env) (string, error) {
	if err := e.serve(nil); err != nil {
		return "", err
	}
	none, bodies := message.NewWork(0), message.NewBodies(seed, 64)
	peers, windows := 4, e.scale(400, 100)
	err := each(peers, func(id int) error {
		p, err := e.dial(id)
		if err != nil {
			return err
		}
		for w := range windows {
			first := uint32(w * plainWindow)
			if err := p.ask(bodies, first, plainWindow); err != nil {
				return err
			}
			if err := p.answers(nil, none, first, plainWindow); err != nil {
				return err
			}
		}
		return p.silent(50 * time.Millisecond)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d messages on %d connections, each answered once", peers*windows*plainWindow, peers), nil
}

func doesWork(e *env) (string, error) {
	const ops, messages = 1000, 64
	if err := e.serve(func(s *control.Setup) { s.Cell.Work = ops }); err != nil {
		return "", err
	}
	work, bodies := message.NewWork(ops), plainBodies()
	err := each(2, func(id int) error {
		p, err := e.dial(id)
		for i := uint32(0); err == nil && i < messages; i += plainWindow {
			err = p.exchangeWork(bodies, work, i, plainWindow)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d results of %d operations are right", 2*messages, ops), nil
}

func answersBatches(e *env) (string, error) {
	const window = 8
	err := e.serve(func(s *control.Setup) { s.Cell.Pattern, s.Cell.Window = cell.Batch, window })
	if err != nil {
		return "", err
	}
	p, err := e.dial(0)
	if err != nil {
		return "", err
	}
	bodies, none := plainBodies(), message.NewWork(0)
	if err := p.ask(bodies, 0, window-1); err != nil {
		return "", err
	}
	if err := p.silent(100 * time.Millisecond); err != nil {
		return "", fmt.Errorf("after %d of %d messages: %w", window-1, window, err)
	}
	if err := p.ask(bodies, window-1, 1); err != nil {
		return "", err
	}
	if err := p.answers(bodies, none, 0, window); err != nil {
		return "", fmt.Errorf("the batch being complete: %w", err)
	}
	if err := p.exchange(bodies, window, 3*window); err != nil {
		return "", fmt.Errorf("three batches in one: %w", err)
	}
	return fmt.Sprintf("silence until message %d, then all answers", window), nil
}

// countsExactly sends each message when the one before was answered, so that
// no two can share a read.
func countsExactly(e *env) (string, error) {
	if err := e.serve(nil); err != nil {
		return "", err
	}
	peers, messages := 4, 250
	bodies := message.NewBodies(seed, 64)
	err := each(peers, func(id int) error {
		p, err := e.dial(id)
		for i := 0; err == nil && i < messages; i++ {
			err = p.exchange(bodies, uint32(i), 1)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	c, err := e.inspect()
	if err != nil {
		return "", err
	}
	want := int64(peers * messages)
	// Opening a connection takes reads too, and a stream's read may be cut.
	if c.Messages >= 0 && c.Messages != want {
		return "", fmt.Errorf("it counts %d messages where %d were answered", c.Messages, want)
	}
	if most := 2*want + 16*int64(peers); c.Reads >= 0 && (c.Reads < want || c.Reads > most) {
		return "", fmt.Errorf("it counts %d reads where %d messages came one by one", c.Reads, want)
	}
	return fmt.Sprintf("%s messages in %s reads of %d", counted(c.Messages), counted(c.Reads), want), nil
}

// counted spells a counter for a reader.
func counted(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return fmt.Sprint(n)
}
