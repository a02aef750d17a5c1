package http1_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol"
	"github.com/netmatrix/netmatrix/core/protocol/http1"
)

// post is a request for /echo with more fields, each with its line end.
func post(fields, body string) string {
	return "POST /echo HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body
}

// sized is a request with so long a body.
func sized(body string) string { return post(fmt.Sprintf("Content-Length: %d\r\n", len(body)), body) }

// chunked is a request with a body in chunks, as it goes over the wire.
func chunked(body string) string { return post("Transfer-Encoding: chunked\r\n", body) }

// echoed is the answer to a message; fields come behind the status line.
func echoed(fields, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n%s", fields, len(body), body)
}

const (
	closing = "Connection: close\r\n"
	keeping = "Connection: keep-alive\r\n"
	goOn    = "HTTP/1.1 100 Continue\r\n\r\n"
)

// Requests that are answered, and what with. Open tells that the connection
// stays open.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 8<<10) // 128 KiB
	for name, tc := range map[string]struct {
		request, want string
		open          bool
	}{
		"a body":                    {sized("hello"), echoed("", "hello"), true},
		"an empty body":             {sized(""), echoed("", ""), true},
		"a long body":               {sized(long), echoed("", long), true},
		"one of binary":             {sized("\x00\r\n\r\nPOST \xff"), echoed("", "\x00\r\n\r\nPOST \xff"), true},
		"three, pipelined":          {sized("0123456789") + sized("abcdefghij") + sized("!"), echoed("", "0123456789") + echoed("", "abcdefghij") + echoed("", "!"), true},
		"blank lines between":       {sized("a") + "\r\n\r\n" + sized("b") + "\n" + sized("c"), echoed("", "a") + echoed("", "b") + echoed("", "c"), true},
		"names in any case":         {post("CONTENT-length: 2\r\n", "ab"), echoed("", "ab"), true},
		"spaces around a value":     {post("Content-Length: \t 2 \t\r\n", "ab"), echoed("", "ab"), true},
		"bare line feeds":           {"POST /echo HTTP/1.1\nHost: x\nContent-Length: 2\n\nab", echoed("", "ab"), true},
		"leading zeros":             {post("Content-Length: 0002\r\n", "ab"), echoed("", "ab"), true},
		"the same length twice":     {post("Content-Length: 2\r\nContent-Length: 2\r\n", "ab"), echoed("", "ab"), true},
		"a query":                   {strings.Replace(sized("ab"), "/echo", "/echo?a=/%20", 1), echoed("", "ab"), true},
		"absolute form":             {strings.Replace(sized("ab"), "/echo", "HTTP://example.org:80/echo", 1), echoed("", "ab"), true},
		"an empty Host":             {strings.Replace(sized("ab"), "Host: x", "Host:", 1), echoed("", "ab"), true},
		"HTTP/1.7":                  {strings.Replace(sized("ab"), "1.1", "1.7", 1), echoed("", "ab"), true},
		"close":                     {post("Content-Length: 2\r\nConnection: close\r\n", "ab") + sized("ignored"), echoed(closing, "ab"), false},
		"close in a list":           {post("Content-Length: 2\r\nConnection: foo ,\tClose\r\n", "ab"), echoed(closing, "ab"), false},
		"close, chunked":            {post("Transfer-Encoding: chunked\r\nConnection: close\r\n", "1\r\na\r\n0\r\n\r\n"), echoed(closing, "a"), false},
		"closed is not close":       {post("Content-Length: 2\r\nConnection: closed\r\n", "ab"), echoed("", "ab"), true},
		"HTTP/1.0":                  {"POST /echo HTTP/1.0\r\nContent-Length: 2\r\n\r\nab", echoed(closing, "ab"), false},
		"HTTP/1.0, kept alive":      {"POST /echo HTTP/1.0\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nab" + sized("c"), echoed(keeping, "ab") + echoed("", "c"), true},
		"HTTP/1.0, both":            {"POST /echo HTTP/1.0\r\nContent-Length: 2\r\nConnection: keep-alive, close\r\n\r\nab", echoed(closing, "ab"), false},
		"expecting a 100":           {post("Content-Length: 2\r\nExpect: 100-continue\r\n", "ab"), goOn + echoed("", "ab"), true},
		"expecting, in chunks":      {post("Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n", "1\r\na\r\n0\r\n\r\n"), goOn + echoed("", "a"), true},
		"expecting, without a body": {post("Content-Length: 0\r\nExpect: 100-continue\r\n", ""), echoed("", ""), true},
		"expecting, HTTP/1.0":       {"POST /echo HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab", echoed(closing, "ab"), false},
		"one chunk":                 {chunked("5\r\nhello\r\n0\r\n\r\n"), echoed("", "hello"), true},
		"two chunks, then sized":    {chunked("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n") + sized("b"), echoed("", "hello!") + echoed("", "b"), true},
		"no chunk":                  {chunked("0\r\n\r\n"), echoed("", ""), true},
		"chunk extensions":          {chunked("5;a=b;c=\"d\"\r\nhello\r\n1; x\r\n!\r\n0;end\r\n\r\n"), echoed("", "hello!"), true},
		"space behind a size":       {chunked("5 \t\r\nhello\r\n0\r\n\r\n"), echoed("", "hello"), true},
		"big digits, zeros":         {chunked("00000000000A\r\n0123456789\r\n000\r\n\r\n"), echoed("", "0123456789"), true},
		"a trailer":                 {chunked("1\r\na\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\n\r\n") + sized("b"), echoed("", "a") + echoed("", "b"), true},
		"an announced trailer":      {post("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n"), echoed("", "a"), true},
		"a long chunk":              {chunked("20000\r\n" + long + "\r\n0\r\n\r\n"), echoed("", long), true},
		"chunks of one byte":        {chunked(strings.Repeat("1\r\nx\r\n", 3000) + "0\r\n\r\n"), echoed("", strings.Repeat("x", 3000)), true},
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, http1.Protocol(), tc.request)
			if h.out != tc.want {
				t.Errorf("answer\n%.500q, want\n%.500q", h.out, tc.want)
			}
			if want := map[bool]error{true: nil, false: protocol.ErrClosed}[tc.open]; h.err != want {
				t.Errorf("error %v, want %v", h.err, want)
			}
		})
	}
}

// Requests that are refused: the status, then the end. What is behind the
// refused request is not looked at, what was before it has been answered.
func TestRefusals(t *testing.T) {
	head := func(first string) string { return first + "\r\nHost: x\r\nContent-Length: 0\r\n\r\n" }
	many := func(n int) string { return strings.Repeat("A: b\r\n", n) }
	for name, tc := range map[string]struct {
		status  int
		request string
	}{
		"GET":                        {405, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"},
		"PUT":                        {405, head("PUT /echo HTTP/1.1")},
		"HEAD":                       {405, "HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n"},
		"post is no method":          {405, head("post /echo HTTP/1.1")},
		"another path":               {404, head("POST /echo/ HTTP/1.1")},
		"GET of another path":        {404, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"asterisk":                   {404, head("OPTIONS * HTTP/1.1")},
		"authority form":             {404, head("CONNECT x:80 HTTP/1.1")},
		"absolute, without a host":   {404, head("POST http:///echo HTTP/1.1")},
		"absolute, with an odd host": {404, head("POST http://a<b/echo HTTP/1.1")},
		"absolute, another scheme":   {404, head("POST ftp://x/echo HTTP/1.1")},
		"no length":                  {411, post("", "")},
		"no length, HTTP/1.0":        {411, "POST /echo HTTP/1.0\r\n\r\n"},
		"too long":                   {413, post("Content-Length: 16777217\r\n", "")},
		"far too long":               {413, post("Content-Length: 99999999999999999999999999\r\n", "")},
		"chunk too long":             {413, chunked("1000001\r\n")},
		"chunk far too long":         {413, chunked("ffffffffffffffff\r\n")},
		"chunks too long":            {413, chunked("1\r\na\r\n1000000\r\n")},
		"long line":                  {414, "POST /" + strings.Repeat("a", 8<<10)},
		"long line, complete":        {414, head("POST /" + strings.Repeat("a", 8<<10) + " HTTP/1.1")},
		"long header":                {431, post("A: "+strings.Repeat("a", 64<<10), "")},
		"long header, in lines":      {431, post(strings.Repeat("A: "+strings.Repeat("a", 1<<10)+"\r\n", 64), "")},
		"many header lines":          {431, post(many(100), "")},
		"another expectation":        {417, post("Content-Length: 1\r\nExpect: 200-ok\r\n", "a")},
		"two expectations":           {417, post("Content-Length: 1\r\nExpect: 100-continue\r\nExpect: x\r\n", "a")},
		"HTTP/2 preface":             {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		"HTTP/0.9":                   {505, head("POST /echo HTTP/0.9")},
		"no HTTP":                    {400, "SSH-2.0-client\r\n"},
		"TLS":                        {400, "\x16\x03\x01\x00\x05\n"},
		"no version":                 {400, "GET /echo\r\n"},
		"odd version":                {400, head("POST /echo HTTP/1.1 ")},
		"small http":                 {400, head("POST /echo http/1.1")},
		"version of letters":         {400, head("POST /echo HTTP/1.x")},
		"signed version":             {400, head("POST /echo HTTP/+1.1")},
		"two spaces":                 {400, head("POST  /echo HTTP/1.1")},
		"tabs":                       {400, head("POST\t/echo\tHTTP/1.1")},
		"odd method":                 {400, head("P(ST /echo HTTP/1.1")},
		"no method":                  {400, head(" /echo HTTP/1.1")},
		"control in the target":      {400, head("POST /ec\x00ho HTTP/1.1")},
		"five blank bytes":           {400, "\r\n\r\n\n" + sized("a")},
		"no Host":                    {400, "POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n"},
		"two Hosts":                  {400, post("Host: x\r\nContent-Length: 0\r\n", "")},
		"odd Host":                   {400, "POST /echo HTTP/1.1\r\nHost: a/b\r\n\r\n"},
		"no colon":                   {400, post("Content-Length\r\n", "")},
		"no name":                    {400, post(": 5\r\n", "")},
		"space before the colon":     {400, post("Content-Length : 1\r\n", "a")},
		"tab before the colon":       {400, post("Content-Length\t: 1\r\n", "a")},
		"space in a name":            {400, post("Content Length: 1\r\n", "a")},
		"NUL in a name":              {400, post("A\x00: 1\r\n", "a")},
		"NUL in a value":             {400, post("A: \x00\r\n", "a")},
		"DEL in a value":             {400, post("A: \x7f\r\n", "a")},
		"CR in a value":              {400, post("A: b\rContent-Length: 1\r\n", "a")},
		"CR CR LF":                   {400, post("A: b\r\r\n", "a")},
		"folded":                     {400, post("A: b\r\n c\r\n", "")},
		"folded at once":             {400, "POST /echo HTTP/1.1\r\n Host: x\r\n\r\n"},
		"folded length":              {400, post("Content-Length:\r\n 1\r\n", "a")},
		"signed length":              {400, post("Content-Length: +1\r\n", "a")},
		"negative length":            {400, post("Content-Length: -1\r\n", "a")},
		"hexadecimal length":         {400, post("Content-Length: 0x1\r\n", "a")},
		"length with a point":        {400, post("Content-Length: 1.0\r\n", "a")},
		"length in parts":            {400, post("Content-Length: 1 1\r\n", "a")},
		"empty length":               {400, post("Content-Length:\r\n", "")},
		"list of lengths":            {400, post("Content-Length: 1, 1\r\n", "a")},
		"two lengths":                {400, post("Content-Length: 1\r\nContent-Length: 2\r\n", "a")},
		"two lengths, alike":         {400, post("Content-Length: 1\r\nContent-Length: 01\r\n", "a")},
		"length and chunked":         {400, post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
		"chunked and length":         {400, post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
		"chunked in HTTP/1.0":        {400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		"chunked twice":              {501, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "")},
		"chunked not last":           {501, post("Transfer-Encoding: chunked, gzip\r\n", "")},
		"gzip, chunked":              {501, post("Transfer-Encoding: gzip, chunked\r\n", "")},
		"gzip":                       {501, post("Transfer-Encoding: gzip\r\n", "")},
		"identity":                   {501, post("Transfer-Encoding: identity\r\n", "")},
		"xchunked":                   {501, post("Transfer-Encoding: xchunked\r\n", "")},
		"vertical tab":               {400, post("Transfer-Encoding: \x0bchunked\r\n", "")},
		"quoted chunked":             {501, post("Transfer-Encoding: \"chunked\"\r\n", "")},
		"empty coding":               {501, post("Transfer-Encoding:\r\n", "")},
		"length in a trailer":        {400, post("Transfer-Encoding: chunked\r\nTrailer: a, Content-Length\r\n", "")},
		"0x size":                    {400, chunked("0x1\r\na\r\n")},
		"signed size":                {400, chunked("+1\r\na\r\n")},
		"negative size":              {400, chunked("-1\r\na\r\n")},
		"no size":                    {400, chunked("\r\na\r\n")},
		"only an extension":          {400, chunked(";a\r\n")},
		"space before a size":        {400, chunked(" 1\r\na\r\n")},
		"space before an extension":  {400, chunked("1 ;a\r\nb\r\n")},
		"size of 17 digits":          {400, chunked("00000000000000001\r\na\r\n")},
		"bare LF behind a size":      {400, chunked("1\na\r\n0\r\n\r\n")},
		"only LF for a size":         {400, chunked("\n")},
		"CR in an extension":         {400, chunked("1;a\rb\r\n")},
		"chunk longer than its size": {400, chunked("1\r\nab\r\n0\r\n\r\n")},
		"bare LF behind a chunk":     {400, chunked("1\r\na\n0\r\n\r\n")},
		"bare LF behind the trailer": {400, chunked("0\r\n\n")},
		"odd trailer":                {400, chunked("0\r\nA : b\r\n\r\n")},
		"folded trailer":             {400, chunked("0\r\nA: b\r\n c\r\n\r\n")},
		"long trailer":               {400, chunked("0\r\nA: " + strings.Repeat("b", 4<<10))},
		"long trailer, in lines":     {400, chunked("0\r\n" + strings.Repeat("A: b\r\n", 700))},
		"long size line":             {400, chunked("1;" + strings.Repeat("b", 4<<10))},
		"all extensions":             {400, chunked(strings.Repeat("1;"+strings.Repeat("x", 4<<10-10)+"\r\na\r\n", 6))},
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, http1.Protocol(), sized("before")+tc.request)
			refusal, ok := strings.CutPrefix(h.out, echoed("", "before"))
			if !ok {
				t.Fatalf("the request before was not answered first: %v", h)
			}
			refusal = strings.TrimPrefix(refusal, goOn)
			if want := fmt.Sprintf("HTTP/1.1 %d ", tc.status); !strings.HasPrefix(refusal, want) || !strings.Contains(refusal, closing) {
				t.Errorf("answer %q, want one that begins with %q and closes", refusal, want)
			}
			if !errors.Is(h.err, protocol.ErrMalformed) {
				t.Errorf("error %v, want one that wraps ErrMalformed", h.err)
			}
			if got := strings.Contains(refusal, "\r\nAllow: POST\r\n"); got != (tc.status == 405) {
				t.Errorf("Allow is there: %t, in %q", got, refusal)
			}
			if head, body, _ := strings.Cut(refusal, "\r\n\r\n"); (body == "") != (name == "HEAD") {
				t.Errorf("body %q behind %q", body, head)
			}
		})
	}
}

// What a refusal says it is long, it is.
func TestRefusalIsOneResponse(t *testing.T) {
	h := serve(t, http1.Protocol(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want := "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 27\r\n\r\nthere is nothing but /echo\n"
	if h.out != want {
		t.Errorf("answer %q, want %q", h.out, want)
	}
	if want := "malformed: request: there is nothing but /echo"; h.err.Error() != want {
		t.Errorf("error %q, want %q", h.err, want)
	}
}

// At its limits everything is still taken.
func TestLimits(t *testing.T) {
	line := "POST /echo?"
	line += strings.Repeat("a", 8<<10-len(line)-len(" HTTP/1.1\r\n")) + " HTTP/1.1\r\n"
	fields := "Host: x\r\nContent-Length: 1\r\n"
	area := "A: "
	area += strings.Repeat("b", 64<<10-len(area)-len(fields)-len("\r\n\r\n")) + "\r\n"
	for name, request := range map[string]string{
		"first line":   line + fields + "\r\na",
		"header":       "POST /echo HTTP/1.1\r\n" + fields + area + "\r\na",
		"header lines": "POST /echo HTTP/1.1\r\n" + fields + strings.Repeat("A: b\r\n", 98) + "\r\na",
		"size line":    chunked("1;" + strings.Repeat("b", 4<<10-len("1;\r\n")) + "\r\na\r\n0\r\n\r\n"),
		"trailer":      chunked("1\r\na\r\n0\r\nA: " + strings.Repeat("b", 4<<10-len("A: \r\n\r\n")) + "\r\n\r\n"),
	} {
		if h := serve(t, http1.Protocol(), request); len(h.messages) != 1 || h.err != nil {
			t.Errorf("%s at its limit: %v", name, h)
		}
	}
}

func TestLargestMessage(t *testing.T) {
	body := bytes.Repeat([]byte{7}, http1.MaxPayload)
	half := fmt.Sprintf("%x\r\n", len(body)/2)
	for name, stream := range map[string][]byte{
		"sized":   http1.Protocol().Client().Append(nil, body[:16], body[16:]),
		"chunked": []byte(chunked(half + string(body[:len(body)/2]) + "\r\n" + half + string(body[len(body)/2:]) + "\r\n0\r\n\r\n")),
	} {
		for _, cuts := range [][]int{nil, {10, 100, 1 << 20, 5 << 20}} {
			h := feed(http1.Protocol().Server(), stream, cuts, false)
			if len(h.messages) != 1 || h.messages[0] != string(body) || h.err != nil {
				t.Errorf("%s, cut at %v: %d messages, error %v", name, cuts, len(h.messages), h.err)
			}
		}
	}
}

// Nobody waits for what cannot come: a 100 is sent before the body, also when
// the field that asks for it comes in a later call, and a line is judged as soon
// as it is there.
func TestNoSilentWait(t *testing.T) {
	expecting := post("Content-Length: 2\r\nExpect: 100-continue\r\n", "")
	for cut := range len(expecting) {
		if h := feed(http1.Protocol().Server(), []byte(expecting), []int{cut}, true); h.out != goOn || h.err != nil {
			t.Fatalf("cut at %d: %v, want %q", cut, h, goOn)
		}
	}
	for _, begun := range []string{"junk\n", "GET /\r\n", "POST /echo HTTP/1.1\r\nA b\r\n", "POST /echo HTTP/1.1\n\tA: b\n", chunked("x\r\n"), strings.Repeat("A", 8<<10)} {
		if h := serve(t, http1.Protocol(), begun); h.err == nil {
			t.Errorf("%q is waited for more", begun)
		}
	}
	for _, begun := range []string{"", "\r\n", "P", "POST /echo HTTP/1.1\r", post("Content-Length: 2\r\n", "a"), chunked("0\r\n\r")} {
		if h := serve(t, http1.Protocol(), begun); h.err != nil || h.out != "" {
			t.Errorf("%q: %v, want it to wait for more", begun, h)
		}
	}
}
