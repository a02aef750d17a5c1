package blackbox

import (
	"fmt"
	"time"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/control"
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

func answersOne(e *env) (string, error) {
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	p, err := e.dial(0)
	if err != nil {
		return "", err
	}
	if err := p.exchange(0, 1); err != nil {
		return "", err
	}
	return fmt.Sprintf("listens at %v", e.addrs), nil
}

// keepsBytes: a few messages cut badly, then many in windows.
func keepsBytes(e *env) (string, error) {
	if !e.protocol.Datagram {
		if err := e.survivesCuts(); err != nil {
			return "", err
		}
	}
	if err := e.serve(plainPayload, nil); err != nil {
		return "", err
	}
	n, err := e.windows(e.scale(200, 50))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d messages of %d bytes came back whole", n, plainPayload), nil
}

// survivesCuts writes messages in bad pieces.
func (e *env) survivesCuts() error {
	const payload = 200
	if err := e.serve(payload, nil); err != nil {
		return err
	}
	for i, c := range []struct {
		name string
		cut  cut
		glue int // messages written together
	}{
		{"whole", nil, 1},
		{"a byte at a time", byteAtATime, 1},
		{"glued together", nil, plainWindow},
		{"cut at random places", randomly(), plainWindow},
	} {
		p, err := e.dialCut(i, c.cut)
		for k := 0; err == nil && k < plainWindow; k += c.glue {
			err = p.exchange(uint32(k), c.glue)
		}
		if err != nil {
			return fmt.Errorf("messages written %s: %w", c.name, err)
		}
		p.close()
	}
	return nil
}

// windows has four peers exchange n windows of messages each, and nothing more
// may come then. It returns how many messages that were.
func (e *env) windows(n int) (messages int, err error) {
	const peers = 4
	err = each(peers, func(id int) error {
		p, err := e.dial(id)
		for w := 0; err == nil && w < n; w++ {
			err = p.exchange(uint32(w*plainWindow), plainWindow)
		}
		if err != nil {
			return err
		}
		return p.silent(50 * time.Millisecond)
	})
	return peers * n * plainWindow, err
}

// answersSizes has a process for each size, since it is told what will come.
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
		if err := e.serve(size, nil); err != nil {
			return "", err
		}
		p, err := e.dial(0)
		for i := uint32(0); err == nil && i < 2; i++ {
			err = p.exchange(i, 1)
		}
		if err != nil {
			return "", fmt.Errorf("messages of %d bytes: %w", size, err)
		}
		tried, largest = tried+1, size
	}
	return fmt.Sprintf("%d sizes up to %s", tried, cell.Bytes(largest)), nil
}

func answersOnce(e *env) (string, error) {
	const payload = 64
	if err := e.serve(payload, nil); err != nil {
		return "", err
	}
	n, err := e.windows(e.scale(400, 100))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d messages, each answered once", n), nil
}

func doesWork(e *env) (string, error) {
	const ops = 1000
	if err := e.serve(plainPayload, func(s *control.Setup) { s.Cell.Work = ops }); err != nil {
		return "", err
	}
	n, err := e.windows(4)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d results of %d operations are right", n, ops), nil
}

func answersBatches(e *env) (string, error) {
	const window = 8
	err := e.serve(plainPayload, func(s *control.Setup) { s.Cell.Pattern, s.Cell.Window = cell.Batch, window })
	if err != nil {
		return "", err
	}
	p, err := e.dial(0)
	if err != nil {
		return "", err
	}
	if err := p.ask(0, window-1); err != nil {
		return "", err
	}
	if err := p.silent(100 * time.Millisecond); err != nil {
		return "", fmt.Errorf("after %d of %d messages: %w", window-1, window, err)
	}
	if err := p.ask(window-1, 1); err != nil {
		return "", err
	}
	if err := p.answers(0, window); err != nil {
		return "", fmt.Errorf("the batch being complete: %w", err)
	}
	if err := p.exchange(window, window); err != nil {
		return "", fmt.Errorf("the batch after it: %w", err)
	}
	return fmt.Sprintf("silence until message %d, then all answers", window), nil
}

// countsExactly sends each message when the one before was answered, so that
// no two can share a read.
func countsExactly(e *env) (string, error) {
	const payload, peers, messages = 64, 4, 250
	if err := e.serve(payload, nil); err != nil {
		return "", err
	}
	err := each(peers, func(id int) error {
		p, err := e.dial(id)
		for i := 0; err == nil && i < messages; i++ {
			err = p.exchange(uint32(i), 1)
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
	const want = peers * messages
	// Opening a connection takes reads too, and a stream's read may be cut.
	if c.Messages >= 0 && c.Messages != want {
		return "", fmt.Errorf("it counts %d messages where %d were answered", c.Messages, want)
	}
	if most := int64(2*want + 16*peers); c.Reads >= 0 && (c.Reads < want || c.Reads > most) {
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
