package websocket_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

// changed is the request with one thing replaced.
func changed(from, to string) string {
	if !strings.Contains(request, from) {
		panic("the request has no " + from)
	}
	return strings.Replace(request, from, to, 1)
}

// added is the request with more fields.
func added(lines string) string { return changed("\r\n\r\n", "\r\n"+lines+"\r\n") }

func TestRequests(t *testing.T) {
	const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, tc := range []struct {
		name, request string
		status        int
	}{
		{"of the RFC", request, 101},
		{"of a browser", added("Origin: http://localhost\r\nUser-Agent: x\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nSec-WebSocket-Protocol: chat\r\nCookie: ä=ö\r\n"), 101},
		{"names in other cases", strings.ReplaceAll(strings.ToUpper(request), "DGHLIHNHBXBSZSBUB25JZQ==", "dGhlIHNhbXBsZSBub25jZQ=="), 101},
		{"lists", changed("Connection: Upgrade", "Connection: keep-alive,\t upgrade"), 101},
		{"list in two lines", changed("Connection: Upgrade", "Connection: keep-alive\r\nConnection: Upgrade"), 101},
		{"several upgrades", changed("Upgrade: websocket", "Upgrade: h2c, WebSocket"), 101},
		{"no space before values", strings.ReplaceAll(request, ": ", ":"), 101},
		{"line feeds only", strings.ReplaceAll(request, "\r\n", "\n"), 101},
		{"empty Host", changed("Host: localhost", "Host:"), 101},
		{"whole URI", changed("/echo", "ws://localhost/echo?a=b"), 101},
		{"no body, said so", added("Content-Length: 0\r\n"), 101},

		{"POST", changed("GET", "POST"), 405},
		{"HEAD", changed("GET", "HEAD"), 405},
		{"get", changed("GET", "get"), 405},
		{"HTTP/1.0", changed("HTTP/1.1", "HTTP/1.0"), 400},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
		{"no version", changed(" HTTP/1.1", ""), 400},
		{"no target", changed(" /echo", ""), 400},
		{"two spaces", changed("GET ", "GET  "), 400},
		{"empty", "\r\n", 400},
		{"no request", "\x16\x03\x01\x02\x00\n\n", 400},
		{"no Host", changed("Host: localhost\r\n", ""), 400},
		{"two Hosts", added("Host: elsewhere\r\n"), 400},
		{"no Upgrade", changed("Upgrade: websocket\r\n", ""), 426},
		{"Upgrade to something else", changed("Upgrade: websocket", "Upgrade: websockets"), 426},
		{"no Connection", changed("Connection: Upgrade\r\n", ""), 400},
		{"Connection without it", changed("Connection: Upgrade", "Connection: keep-alive"), 400},
		{"no version of websocket", changed("Sec-WebSocket-Version: 13\r\n", ""), 426},
		{"older websocket", changed("Version: 13", "Version: 8"), 426},
		{"newer websocket", changed("Version: 13", "Version: 14"), 426},
		{"two versions of websocket", changed("Version: 13", "Version: 13\r\nSec-WebSocket-Version: 8"), 426},
		{"no key", changed(key, ""), 400},
		{"two keys", changed(key, key+key), 400},
		{"key too short", changed("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j"), 400},
		{"key too long", changed("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZWFi"), 400},
		{"key that is no base64", changed("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ!=="), 400},
		{"key with bits left over", changed("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZR=="), 400},
		{"body", added("Content-Length: 1\r\n"), 400},
		{"lengths of a body", added("Content-Length: 0\r\nContent-Length: 1\r\n"), 400},
		{"chunked body", added("Transfer-Encoding: chunked\r\n"), 400},
		{"folded line", added("X: a\r\n b\r\n"), 400},
		{"space before the colon", changed("Host:", "Host :"), 400},
		{"no colon", added("nothing\r\n"), 400},
		{"no name", added(": nothing\r\n"), 400},
		{"control character", added("X: a\x00b\r\n"), 400},
		{"carriage return in a value", added("X: a\rb\r\n"), 400},
		{"head of 8 KiB", added("X: " + strings.Repeat("x", 8<<10-len(request)-len("X: \r\n")) + "\r\n"), 101},
		{"head over 8 KiB", added("X: " + strings.Repeat("x", 8<<10-len(request)-len("X: \r\n")+1) + "\r\n"), 431},
		{"8 KiB without end", "GET /" + strings.Repeat("x", 8<<10-len("GET /")), 431},
		{"line without end", "GET /" + strings.Repeat("x", 9<<10), 431},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for split, calls := range splits([]byte(tc.request)) {
				c := websocket.Protocol().Server()
				out, err := converse(c, calls)
				r := response(t, out)
				if r.StatusCode != tc.status {
					t.Fatalf("%s: status %s, want %d; error %v", split, r.Status, tc.status, err)
				}
				if tc.status == 101 {
					if string(out) != granted || err != nil || !c.Ready() {
						t.Errorf("%s: %q, error %v, ready %t; want %q, nil, true", split, out, err, c.Ready(), granted)
					}
					continue
				}
				if !errors.Is(err, protocol.ErrMalformed) || c.Ready() {
					t.Errorf("%s: error %v, ready %t; want ErrMalformed, false", split, err, c.Ready())
				}
				why, err := io.ReadAll(r.Body)
				if err != nil || len(why) == 0 || !r.Close {
					t.Errorf("%s: the refusal gives the reason %q (%v) and closes: %t", split, why, err, r.Close)
				}
				if tc.status == 426 && (r.Header.Get("Sec-WebSocket-Version") != "13" || r.Header.Get("Upgrade") != "websocket") {
					t.Errorf("%s: the refusal does not say what would do: %v", split, r.Header)
				}
				if tc.status == 405 && r.Header.Get("Allow") != "GET" {
					t.Errorf("%s: the refusal does not say what would do: %v", split, r.Header)
				}
			}
		})
	}
}

// answered is a client that has asked, and the library's answer to it.
func answered(t *testing.T) (c protocol.Codec, answer string) {
	t.Helper()
	c = websocket.Protocol().Client()
	asked, err := c.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, string(grant(t, asked))
}

func TestResponses(t *testing.T) {
	const (
		upgrade    = "Upgrade: websocket\r\n"
		connection = "Connection: Upgrade\r\n"
		end        = "\r\n\r\n"
	)
	for _, tc := range []struct {
		name, from, to string // what is replaced in a good answer
		why            string // in the error; empty: it is still good
	}{
		{"no reason", " Switching Protocols", "", ""},
		{"names in other cases", "Sec-WebSocket-Accept", "SEC-websocket-accept", ""},
		{"other fields", end, "\r\nServer: x\r\nDate: today" + end, ""},
		{"refused", "101 Switching Protocols", "503 Service Unavailable", `"HTTP/1.1 503 Service Unavailable" instead of status 101`},
		{"not HTTP", "HTTP/1.1 101", "SSH-2.0", "instead of status 101"},
		{"older HTTP", "HTTP/1.1", "HTTP/1.0", "instead of status 101"},
		{"longer status", "101", "1010", "instead of status 101"},
		{"no Upgrade", upgrade, "", "no Upgrade to websocket"},
		{"another Upgrade", upgrade, "Upgrade: h2c\r\n", "no Upgrade to websocket"},
		{"no Connection", connection, "", "Connection lists"},
		{"Connection without it", connection, "Connection: close\r\n", "Connection lists"},
		{"no accept", "Sec-WebSocket-Accept", "X", `accept "" does not follow`},
		{"two accepts", end, "\r\nSec-WebSocket-Accept: x" + end, "does not follow"},
		{"wrong accept", "Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x", "does not follow"},
		{"unasked extension", end, "\r\nSec-WebSocket-Extensions: permessage-deflate" + end, "not offered"},
		{"unasked subprotocol", end, "\r\nSec-WebSocket-Protocol: chat" + end, "not offered"},
		{"folded line", end, "\r\n folded" + end, "without a name"},
		{"control character", end, "\r\nX: \x00" + end, "control character"},
		{"head over 8 KiB", end, "\r\nX: " + strings.Repeat("x", 8<<10) + end, "over 8192 bytes"},
		{"head without end", end, strings.Repeat("x", 8<<10), "over 8192 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for split := range splits([]byte(tc.to)) {
				c, good := answered(t)
				if !strings.Contains(good, tc.from) {
					t.Fatalf("%q has no %q", good, tc.from)
				}
				out, err := converse(c, splits([]byte(strings.Replace(good, tc.from, tc.to, 1)))[split])
				switch {
				case len(out) > 0:
					t.Errorf("%s: the client said %q to it", split, out)
				case tc.why == "" && (err != nil || !c.Ready()):
					t.Errorf("%s: error %v, ready %t; want nil, true", split, err, c.Ready())
				case tc.why != "" && (!errors.Is(err, protocol.ErrMalformed) || !strings.Contains(err.Error(), tc.why) || c.Ready()):
					t.Errorf("%s: error %v, ready %t; want ErrMalformed for %q, false", split, err, c.Ready(), tc.why)
				}
			}
		})
	}
}

// What comes with the request, or with the answer to it, is not lost, nor is
// the half of it that comes.
func TestFramesBehindTheUpgrade(t *testing.T) {
	frames := []piece{whole(text, "first"), whole(ping, "p"), part(bin, "sec"), whole(cont, "ond")}
	t.Run("server", func(t *testing.T) {
		for split, calls := range splits(append([]byte(request), stream(frames, true)...)) {
			out, err := converse(websocket.Protocol().Server(), calls)
			rest, ok := bytes.CutPrefix(out, []byte(granted))
			if got, want := said(t, rest, false, err), "[text first pong p binary second]"; !ok || fmt.Sprint(got) != want {
				t.Errorf("%s: granted %t, then %v; want %s", split, ok, got, want)
			}
		}
	})
	t.Run("client", func(t *testing.T) {
		for i := range 20 { // each cuts at random in another way
			c, good := answered(t)
			b := append([]byte(good), stream(frames, false)...)
			cut := i * len(b) / 20
			out, err := converse(c, [][]byte{b[:cut], b[cut:]})
			if got, want := said(t, out, true, err), "[binary first pong p binary second]"; fmt.Sprint(got) != want {
				t.Errorf("cut at %d: %v, want %s", cut, got, want)
			}
		}
	})
}

// Two clients have neither keys nor masks in common, and no two frames of one
// have their mask in common.
func TestSecrets(t *testing.T) {
	keys, masks := make(map[string]bool), make(map[[4]byte]bool)
	for range 50 {
		c := websocket.Protocol().Client()
		asked, err := c.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, key, _ := strings.Cut(string(asked), "Sec-WebSocket-Key: ")
		keys[key[:24]] = true
		if _, _, _, err := c.Next(grant(t, asked), nil); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			f, err := ws.ReadHeader(bytes.NewReader(c.Append(nil, []byte("head"), nil)))
			if err != nil {
				t.Fatal(err)
			}
			masks[f.Mask] = true
		}
	}
	if len(keys) != 50 || len(masks) < 998 { // two of 1000 may be alike by chance
		t.Errorf("%d keys of 50 clients, %d masks of their 1000 frames", len(keys), len(masks))
	}
}
