package goplugin

import (
	"strings"
	"sync"
)

// tailBytes is how much of a plugin's stderr is kept: the end of it.
const tailBytes = 64 << 10

// tail is a writer that remembers the last tailBytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-tailBytes):]...)
	if len(t.buf) > 2*tailBytes { // twice: so that a byte is moved once, not at every write
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf[max(0, len(t.buf)-tailBytes):])
}

// quote is the end of the text in one line, for an error.
func (t *tail) quote() string {
	const most = 400 // bytes
	s := strings.TrimSpace(t.String())
	if s == "" {
		return "it wrote nothing to stderr"
	}
	if len(s) > most {
		s = "…" + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return "its stderr ends: " + strings.Join(strings.Fields(s), " ")
}

// panicLine is the line in which a Go program says why it crashed, or "".
func (t *tail) panicLine() string {
	for line := range strings.Lines(t.String()) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
