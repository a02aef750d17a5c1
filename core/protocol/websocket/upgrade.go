package websocket

import (
	cryptorand "crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/netmatrix/netmatrix/core/protocol"
)

const (
	nonceBytes = 16
	version    = "13"
)

// upgrade takes the head of the request or of the response, whichever this end
// waits for.
func (c *codec) upgrade(in, out []byte) (used int, o []byte, err error) {
	if c.over != nil {
		return 0, out, c.over
	}
	n := headLength(in[:min(len(in), maxHead)])
	switch {
	case n == 0 && len(in) < maxHead:
		return 0, out, nil
	case c.masks != nil:
		if err = checkResponse(in[:n], c.key); err != nil {
			err = fmt.Errorf("upgrade response: %w", err)
		}
	default:
		out, err = answer(in[:n], out)
	}
	if err != nil {
		c.over = fmt.Errorf("%w: %w", protocol.ErrMalformed, err)
		return 0, out, c.over
	}
	c.ready = true
	return n, out, nil
}

// refusal is why a request is not granted, and what HTTP says to that.
type refusal struct {
	status string
	fields string // whole lines
	why    string
}

func (r *refusal) Error() string { return "upgrade request: " + r.why }

func badRequest(why string) *refusal { return &refusal{"400 Bad Request", "", why} }

// answer grants a request or refuses it. One of no length is one whose end is
// too far off.
func answer(request, out []byte) ([]byte, error) {
	key, r := checkRequest(request)
	if r != nil {
		return fmt.Appendf(out, "HTTP/1.1 %s\r\n%sConnection: close\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\n",
			r.status, r.fields, len(r.why)+1, r.why), r
	}
	return fmt.Appendf(out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		acceptFor(key)), nil
}

// checkRequest holds a request to section 4.2.1 of the RFC.
func checkRequest(request []byte) (key string, r *refusal) {
	if len(request) == 0 {
		return "", &refusal{"431 Request Header Fields Too Large", "", fmt.Sprintf("head over %d bytes", maxHead)}
	}
	first, f, err := parseHead(request)
	if err != nil {
		return "", badRequest(err.Error())
	}
	method, rest, _ := strings.Cut(first, " ")
	target, proto, _ := strings.Cut(rest, " ")
	_, host := f.one("host")
	key, _ = f.one("sec-websocket-key")
	wants, _ := f.one("sec-websocket-version")
	length, _ := f.one("content-length")
	nonce, err := base64.StdEncoding.Strict().DecodeString(key)
	switch {
	case !isToken(method) || target == "" || proto != "HTTP/1.1":
		return "", badRequest("the first line is none of HTTP/1.1")
	case method != "GET":
		return "", &refusal{"405 Method Not Allowed", "Allow: GET\r\n", "method is not GET"}
	case !host:
		return "", badRequest("not exactly one Host")
	case !f.lists("upgrade", "websocket"):
		return "", upgradeRequired("no Upgrade to websocket")
	case !f.lists("connection", "upgrade"):
		return "", badRequest("no Upgrade among what Connection lists")
	case wants != version:
		return "", upgradeRequired("Sec-WebSocket-Version is not " + version)
	case err != nil || len(nonce) != nonceBytes:
		return "", badRequest("Sec-WebSocket-Key is not 16 bytes in base64")
	case f["transfer-encoding"] != nil || f["content-length"] != nil && length != "0":
		return "", badRequest("request with a body")
	}
	return key, nil
}

func upgradeRequired(why string) *refusal {
	return &refusal{"426 Upgrade Required", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: " + version + "\r\n", why}
}

// secrets are a key and masks that nobody can foresee.
func secrets() (key string, masks *rand.ChaCha8) {
	var nonce [nonceBytes]byte
	var seed [32]byte
	cryptorand.Read(nonce[:]) // neither ever fails
	cryptorand.Read(seed[:])
	return base64.StdEncoding.EncodeToString(nonce[:]), rand.NewChaCha8(seed)
}

// appendRequest asks for the upgrade. Host is the name that certificates of
// servers bear; a codec does not know where it is connected to.
func appendRequest(out []byte, key string) []byte {
	return fmt.Appendf(out, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: %s\r\n\r\n",
		key, version)
}

// checkResponse holds a response to section 4.1 of the RFC. One of no length is
// one whose end is too far off.
func checkResponse(response []byte, key string) error {
	if len(response) == 0 {
		return fmt.Errorf("head over %d bytes", maxHead)
	}
	first, f, err := parseHead(response)
	if err != nil {
		return err
	}
	accept, _ := f.one("sec-websocket-accept")
	switch {
	case first != "HTTP/1.1 101" && !strings.HasPrefix(first, "HTTP/1.1 101 "):
		return fmt.Errorf("%.80q instead of status 101", first)
	case !f.lists("upgrade", "websocket"):
		return errors.New("no Upgrade to websocket")
	case !f.lists("connection", "upgrade"):
		return errors.New("no Upgrade among what Connection lists")
	case accept != acceptFor(key):
		return fmt.Errorf("accept %.80q does not follow from the key", accept)
	case f["sec-websocket-extensions"] != nil || f["sec-websocket-protocol"] != nil:
		return errors.New("an extension or a subprotocol that was not offered")
	}
	return nil
}

// acceptFor is what proves that a server has read the key.
func acceptFor(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
