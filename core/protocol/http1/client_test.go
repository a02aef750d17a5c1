package http1_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
)

func TestRequest(t *testing.T) {
	c := http1.Protocol().Client()
	if out, err := c.Open([]byte("x")); string(out) != "x" || err != nil || !c.Ready() {
		t.Errorf("Open = %q, %v, Ready = %t; want nothing sent and ready at once", out, err, c.Ready())
	}
	got := string(c.Append([]byte("before"), []byte("head"), []byte("body!")))
	want := "beforePOST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: 9\r\n\r\nheadbody!"
	if got != want {
		t.Errorf("Append = %q, want %q", got, want)
	}
}

// response is a 200 with more fields, each with its line end.
func response(fields, body string) string { return "HTTP/1.1 200 OK\r\n" + fields + "\r\n" + body }

func TestResponses(t *testing.T) {
	two := response("Content-Length: 2\r\n", "ab")
	for name, tc := range map[string]struct {
		stream string
		want   []string
		open   bool
	}{
		"sized":                {two, []string{"ab"}, true},
		"several":              {two + response("content-length:1\r\n", "c") + two, []string{"ab", "c", "ab"}, true},
		"empty":                {response("Content-Length: 0\r\n", "") + two, []string{"", "ab"}, true},
		"chunked":              {response("Transfer-Encoding: chunked\r\n", "1\r\na\r\n2;x\r\nbc\r\n0\r\nA: b\r\n\r\n") + two, []string{"abc", "ab"}, true},
		"chunked, empty":       {response("Transfer-Encoding: chunked\r\n", "0\r\n\r\n") + two, []string{"", "ab"}, true},
		"with a date":          {response("Date: Mon, 27 Jul 2009 12:28:53 GMT\r\nServer: x/1\r\nContent-Length: 2\r\n", "ab"), []string{"ab"}, true},
		"without a reason":     {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nab", []string{"ab"}, true},
		"bare line feeds":      {"HTTP/1.1 200 Fine\nContent-Length: 2\n\nab", []string{"ab"}, true},
		"behind a 100":         {"HTTP/1.1 100 Continue\r\n\r\n" + two, []string{"ab"}, true},
		"behind early hints":   {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + two, []string{"ab"}, true},
		"closing":              {response("Content-Length: 2\r\nConnection: close\r\n", "ab") + two, []string{"ab"}, false},
		"closing, chunked":     {response("Transfer-Encoding: chunked\r\nConnection: x, close\r\n", "1\r\na\r\n0\r\n\r\n"), []string{"a"}, false},
		"HTTP/1.0":             {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", []string{"ab"}, false},
		"HTTP/1.0, kept alive": {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nab" + two, []string{"ab", "ab"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := listen(t, http1.Protocol(), tc.stream)
			if !slices.Equal(h.messages, tc.want) || h.out != "" {
				t.Errorf("messages %q and %q to send, want %q and nothing", h.messages, h.out, tc.want)
			}
			if want := map[bool]error{true: nil, false: protocol.ErrClosed}[tc.open]; h.err != want {
				t.Errorf("error %v, want %v", h.err, want)
			}
		})
	}
}

func TestBadResponses(t *testing.T) {
	good := response("Content-Length: 2\r\n", "ab")
	for name, tc := range map[string]struct{ stream, why string }{
		"503":               {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "status 503 instead of 200"},
		"204":               {"HTTP/1.1 204 No Content\r\n\r\n", "status 204 instead of 200"},
		"101":               {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "status 101 instead of 200"},
		"a request":         {sized("a"), "malformed status line"},
		"text":              {"hello\r\n", "malformed status line"},
		"an empty line":     {"\r\n", "malformed status line"},
		"two digits":        {"HTTP/1.1 20\r\n", "malformed status line"},
		"four digits":       {"HTTP/1.1 2000\r\n", "malformed status line"},
		"below 100":         {"HTTP/1.1 020\r\n", "malformed status line"},
		"signed":            {"HTTP/1.1 +20\r\n", "malformed status line"},
		"NUL in the reason": {"HTTP/1.1 200 \x00\r\n", "malformed status line"},
		"HTTP/2":            {"HTTP/2.0 200 OK\r\n", "HTTP version other than 1.x"},
		"HTTP":              {"HTTP:1.1 200 OK\r\n", "malformed HTTP version"},
		"no length":         {response("", "ab"), "neither Content-Length nor chunked: where the body ends nobody can tell"},
		"too long":          {response("Content-Length: 16777217\r\n", ""), "body too large"},
		"two lengths":       {response("Content-Length: 2\r\nContent-Length: 3\r\n", ""), "more than one Content-Length"},
		"two framings":      {response("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", ""), "both Content-Length and Transfer-Encoding"},
		"gzip":              {response("Transfer-Encoding: gzip\r\n", ""), "transfer coding other than chunked"},
		"folded":            {response("A: b\r\n c\r\n", ""), "folded header line"},
		"odd chunk":         {response("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n"), "chunk longer than its size"},
		"endless line":      {"HTTP/1.1 200 " + strings.Repeat("O", 8<<10), "first line too long"},
		"endless header":    {response("A: "+strings.Repeat("a", 64<<10), ""), "header too long"},
	} {
		t.Run(name, func(t *testing.T) {
			h := listen(t, http1.Protocol(), good+tc.stream)
			if !slices.Equal(h.messages, []string{"ab"}) || h.out != "" {
				t.Errorf("messages %q and %q to send, want the good one and nothing", h.messages, h.out)
			}
			if want := "malformed: response: " + tc.why; !errors.Is(h.err, protocol.ErrMalformed) || h.err.Error() != want {
				t.Errorf("error %v, want %s", h.err, want)
			}
		})
	}
}

func TestProtocol(t *testing.T) {
	for name, p := range map[string]protocol.Protocol{"http": http1.Protocol(), "https": http1.Secure()} {
		if p.Name != name || p.TLS != (name == "https") || p.Network != "tcp" || p.MaxPayload != 16<<20 || p.Datagram || p.Mirror || p.Stack["http"] == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// A whole message is a slice of what came in and ends where it ends.
func TestMessageLiesInInput(t *testing.T) {
	p := http1.Protocol()
	request := p.Client().Append(nil, []byte("head"), []byte("body"))
	for name, tc := range map[string]struct {
		codec  protocol.Codec
		stream []byte
	}{
		"server": {p.Server(), append(request, "next"...)},
		"client": {p.Client(), []byte(response("Content-Length: 8\r\n", "headbody") + "next")},
	} {
		msg, used, out, err := tc.codec.Next(tc.stream, []byte("out"))
		if string(msg) != "headbody" || used != len(tc.stream)-len("next") || string(out) != "out" || err != nil {
			t.Fatalf("%s: Next = %q, %d, %q, %v", name, msg, used, out, err)
		}
		if &msg[0] != &tc.stream[used-8] || cap(msg) != 8 {
			t.Errorf("%s: the message is no slice of in that ends where the message does", name)
		}
	}
}

func TestNothingAllocatesOnceWarm(t *testing.T) {
	p := http1.Protocol()
	client, server := p.Client(), p.Server()
	var up, down []byte
	msg := make([]byte, 1024)
	chunks := []byte(chunked("3\r\nabc\r\n1;x=y\r\n!\r\n0\r\nA: b\r\n\r\n"))
	check := func(t *testing.T, name string, f func() error) {
		if n := testing.AllocsPerRun(100, func() {
			if err := f(); err != nil {
				t.Fatal(name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations for a message, want 0", name, n)
		}
	}
	check(t, "there and back", func() error {
		up = client.Append(up[:0], msg[:16], msg[16:])
		got, _, _, err := server.Next(up, nil)
		if err != nil || len(got) != len(msg) {
			return fmt.Errorf("%d bytes, %w", len(got), err)
		}
		down = server.Append(down[:0], got, nil)
		if got, _, _, err = client.Next(down, nil); len(got) != len(msg) {
			return fmt.Errorf("%d bytes, %w", len(got), err)
		}
		return err
	})
	check(t, "in parts", func() error {
		at := 0
		for _, n := range []int{30, 120, len(up)} { // in the head, in the body, all
			got, used, _, err := server.Next(up[at:n], nil)
			if at += used; err != nil || (got != nil) != (n == len(up)) {
				return fmt.Errorf("at %d: %d bytes, %w", at, len(got), err)
			}
		}
		return nil
	})
	check(t, "in chunks", func() error {
		got, _, _, err := server.Next(chunks, nil)
		if err == nil && string(got) != "abc!" {
			return fmt.Errorf("got %q", got)
		}
		return err
	})
}
