package goplugin

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/netmatrix/netmatrix/core/control"
)

// handshake is what both sides must agree on. The cookie is no secret: it tells
// a start by the driver from one by hand.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  control.ContractVersion,
	MagicCookieKey:   "NETMATRIX_PLUGIN",
	MagicCookieValue: "5d1f-control",
}

// parseHandshake takes the contract's version from go-plugin's line
// "1|CONTRACT|NETWORK|ADDRESS|grpc|"; valid is false for any other text.
func parseHandshake(line string) (contract string, valid bool) {
	fields := strings.Split(line, "|")
	if len(fields) < 4 {
		return "", false
	}
	for _, number := range fields[:2] {
		if _, err := strconv.Atoi(number); err != nil {
			return "", false
		}
	}
	return fields[1], true
}

// firstLine is a reader of the first line of a plugin's stdout, the handshake.
// Read waits for the line.
type firstLine struct {
	ready chan struct{}
	text  string // what was printed, without the line's end; read after ready
	rest  *bytes.Reader
}

// take reads the line from r; whatever follows it is talk.
func (f *firstLine) take(r io.Reader, talk io.Writer) {
	in := bufio.NewReader(r)
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) { // no handshake is that long
		err = nil
	}
	f.text = string(bytes.TrimSpace(line))
	f.rest = bytes.NewReader(bytes.Clone(line))
	close(f.ready)
	if err == nil {
		_, _ = io.Copy(talk, in)
	}
}

func (f *firstLine) Read(b []byte) (int, error) {
	<-f.ready
	return f.rest.Read(b)
}

func (f *firstLine) Close() error { return nil }
