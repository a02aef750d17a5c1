package websocket_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gobwas/ws"

	"github.com/netmatrix/netmatrix/core/protocol/websocket"
)

const (
	cont = ws.OpContinuation
	text = ws.OpText
	bin  = ws.OpBinary
	ping = ws.OpPing
	pong = ws.OpPong
)

// A testCase is a stream of frames, and in words what an end that sends every
// message back says to it.
type testCase struct {
	name string
	in   []piece
	want []string
}

func fails(code int, before ...string) []string {
	return append(before, fmt.Sprint("close ", code), "failed")
}

func closes(code int, before ...string) []string {
	return append(before, fmt.Sprint("close ", code), "closed")
}

const utf8Text = "Hello-µ@ßöäüàá-UTF-8!!"

// cases go by the sections of the Autobahn test suite.
func cases() []testCase {
	list := slices.Concat(framing(), pings(), reservedBits(), fragments(), closings(), limits())
	for _, op := range []ws.OpCode{3, 4, 5, 6, 7, 11, 12, 13, 14, 15} {
		list = append(list,
			testCase{fmt.Sprintf("4 opcode %d", op), []piece{whole(text, "a"), whole(op, ""), whole(ping, "")}, fails(1002, "text a")},
			testCase{fmt.Sprintf("4 opcode %d with payload", op), []piece{whole(op, "reserved"), whole(ping, "")}, fails(1002)})
	}
	return append(list, encodings()...)
}

func framing() (list []testCase) {
	for _, n := range []int{0, 1, 124, 125, 126, 127, 128, 65534, 65535, 65536, 65537} {
		payload := strings.Repeat("*", n)
		list = append(list,
			testCase{fmt.Sprint("1.1 text of ", n), []piece{whole(text, payload)}, []string{strings.TrimSpace("text " + payload)}},
			testCase{fmt.Sprint("1.2 binary of ", n), []piece{whole(bin, payload)}, []string{strings.TrimSpace("binary " + payload)}})
	}
	return append(list,
		testCase{"1 text, then binary, then text", []piece{whole(text, "a"), whole(bin, "\xff"), whole(text, "b")}, []string{"text a", "binary \xff", "text b"}},
		testCase{"masked the other way", []piece{whole(text, "a"), wrongly(whole(text, "b"))}, fails(1002, "text a")},
		testCase{"ping masked the other way", []piece{wrongly(whole(ping, ""))}, fails(1002)},
		testCase{"125 in two bytes", []piece{announced(bin, 2, 125)}, fails(1002)},
		testCase{"126 in eight bytes", []piece{announced(bin, 8, 126)}, fails(1002)},
		testCase{"65535 in eight bytes", []piece{announced(bin, 8, 65535)}, fails(1002)},
		testCase{"ping of 5 in two bytes", []piece{announced(ping, 2, 5)}, fails(1002)},
		testCase{"length with its top bit set", []piece{announced(bin, 8, 1<<63)}, fails(1002)},
		testCase{"length of all ones", []piece{announced(bin, 8, 1<<64-1)}, fails(1002)},
	)
}

func pings() []testCase {
	long := strings.Repeat("\xfe", 125)
	var ten []piece
	var pongs []string
	for i := range 10 {
		ten = append(ten, whole(ping, fmt.Sprint(i)))
		pongs = append(pongs, fmt.Sprint("pong ", i))
	}
	return []testCase{
		{"2.1 empty", []piece{whole(ping, "")}, []string{"pong"}},
		{"2.2 text", []piece{whole(ping, "Hello, world!")}, []string{"pong Hello, world!"}},
		{"2.3 binary", []piece{whole(ping, "\x00\xff\xfe\xfd")}, []string{"pong \x00\xff\xfe\xfd"}},
		{"2.4 of 125", []piece{whole(ping, long)}, []string{"pong " + long}},
		{"2.5 of 126", []piece{whole(ping, long+"\xfe"), whole(ping, "")}, fails(1002)},
		{"2.7 unasked pong", []piece{whole(pong, "")}, nil},
		{"2.8 unasked pong with payload", []piece{whole(pong, "unasked")}, nil},
		{"2.9 unasked pong, then ping", []piece{whole(pong, "unasked"), whole(ping, "p")}, []string{"pong p"}},
		{"2.10 ten", ten, pongs},
	}
}

func reservedBits() []testCase {
	return []testCase{
		{"3.1", []piece{reserved(1, text, "a")}, fails(1002)},
		{"3.2", []piece{whole(text, "a"), reserved(2, text, "b"), whole(ping, "")}, fails(1002, "text a")},
		{"3.3", []piece{whole(text, "a"), reserved(3, text, "b"), whole(ping, "")}, fails(1002, "text a")},
		{"3.4", []piece{reserved(4, text, "")}, fails(1002)},
		{"3.5", []piece{reserved(5, bin, "\x00\xff")}, fails(1002)},
		{"3.6", []piece{reserved(6, ping, "p")}, fails(1002)},
		{"3.7", []piece{reserved(7, ws.OpClose, "")}, fails(1002)},
		{"3 continuation", []piece{part(text, "a"), reserved(4, cont, "b")}, fails(1002)},
	}
}

func fragments() []testCase {
	return []testCase{
		{"5.1 ping", []piece{part(ping, "a"), whole(cont, "b")}, fails(1002)},
		{"5.2 pong", []piece{part(pong, "a"), whole(cont, "b")}, fails(1002)},
		{"5 close", []piece{part(ws.OpClose, "")}, fails(1002)},
		{"5.3 two", []piece{part(text, "ab"), whole(cont, "cd")}, []string{"text abcd"}},
		{"5 binary", []piece{part(bin, "\xff"), part(cont, "\xfe"), whole(cont, "\xfd")}, []string{"binary \xff\xfe\xfd"}},
		{"5.6 ping between", []piece{part(text, "ab"), whole(ping, "p"), whole(cont, "cd")}, []string{"pong p", "text abcd"}},
		{"5.9 nothing to continue", []piece{whole(cont, "a"), whole(text, "b")}, fails(1002)},
		{"5.12 nothing to continue, unfinished", []piece{part(cont, "a"), whole(text, "b")}, fails(1002)},
		{"5.15 continued when over", []piece{part(text, "ab"), whole(cont, "cd"), part(cont, "e"), whole(text, "f")}, fails(1002, "text abcd")},
		{"5.18 new text before the end", []piece{part(text, "ab"), whole(text, "cd")}, fails(1002)},
		{"5 new binary before the end", []piece{part(text, "ab"), part(bin, "cd")}, fails(1002)},
		{"5.19 pings between many", []piece{
			part(text, "a"), part(cont, "b"), whole(ping, "1"), part(cont, "c"), part(cont, "d"), whole(ping, "2"), whole(cont, "e"),
		}, []string{"pong 1", "pong 2", "text abcde"}},
		{"5 two messages", []piece{part(text, "ab"), whole(cont, "cd"), part(bin, "e"), whole(cont, "f")}, []string{"text abcd", "binary ef"}},
		{"5 fragments and wholes", []piece{whole(bin, "a"), part(text, "b"), whole(cont, "c"), whole(bin, "d")}, []string{"binary a", "text bc", "binary d"}},
		{"6.1.2 three empty", []piece{part(text, ""), part(cont, ""), whole(cont, "")}, []string{"text"}},
		{"6.1.3 between empty ones", []piece{part(text, ""), part(cont, "mid"), whole(cont, "")}, []string{"text mid"}},
	}
}

func encodings() (list []testCase) {
	list = []testCase{
		{"6.2.1 whole", []piece{whole(text, utf8Text)}, []string{"text " + utf8Text}},
		{"6.2.2 between runes", []piece{part(text, utf8Text[:8]), whole(cont, utf8Text[8:])}, []string{"text " + utf8Text}},
		{"6.2.3 octets", octets(text, utf8Text), []string{"text " + utf8Text}},
		{"6.4.1 at once", []piece{part(text, "κόσμε"), part(cont, "\xf4\x90\x80\x80")}, fails(1007)},
		{"6.4.2 before the rune is over", []piece{part(text, "κόσμε\xf4"), part(cont, "\x90")}, fails(1007)},
		{"6.6 unfinished rune", []piece{part(text, "κ"), whole(cont, "\xce")}, fails(1007)},
		{"6.6 unfinished rune, then a ping", []piece{part(text, "\xce"), whole(ping, ""), whole(cont, "\xba")}, []string{"pong", "text κ"}},
		{"6 binary need not be", []piece{part(bin, "\xce"), whole(cont, "\xff")}, []string{"binary \xce\xff"}},
	}
	for _, good := range []string{
		"κόσμε", "\x00", "\u0080", "\u0800", "\U00010000", "\u007f", "\u07ff", "\uffff", "\U0010ffff",
		"\ud7ff", "\ue000", "\ufffd", "\ufdd0", "\ufffe", "\U0001ffff", "\u2028",
	} {
		list = append(list,
			testCase{fmt.Sprintf("6 whole %+q", good), []piece{whole(text, good)}, []string{strings.TrimSpace("text " + good)}},
			testCase{fmt.Sprintf("6 octets %+q", good), octets(text, good), []string{strings.TrimSpace("text " + good)}})
	}
	for _, bad := range []string{
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3\x28", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x28\xa1",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\x80\xed\xb0\x80", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", "\xfe", "\xff", "κόσμε\xed\xa0\x80edited",
	} {
		list = append(list,
			testCase{fmt.Sprintf("6 whole %+q", bad), []piece{whole(text, bad)}, fails(1007)},
			testCase{fmt.Sprintf("6 octets %+q", bad), octets(text, bad), fails(1007)})
	}
	return list
}

func closings() (list []testCase) {
	long := strings.Repeat("x", 123)
	list = []testCase{
		{"7.1.1 after a message", []piece{whole(text, "a"), closing(1000, "")}, closes(1000, "text a")},
		{"7.1.2 twice", []piece{closing(1000, ""), closing(1001, "")}, closes(1000)},
		{"7.1.3 ping after it", []piece{closing(1000, ""), whole(ping, "")}, closes(1000)},
		{"7.1.4 text after it", []piece{closing(1000, ""), whole(text, "a")}, closes(1000)},
		{"7.1.5 amid a message", []piece{part(text, "a"), closing(1000, ""), whole(cont, "b")}, closes(1000)},
		{"7.1.6 behind a long message", []piece{whole(bin, strings.Repeat("B", 256<<10)), closing(1000, ""), whole(ping, "")},
			closes(1000, "binary "+strings.Repeat("B", 256<<10))},
		{"7.3.1 no code", []piece{whole(ws.OpClose, "")}, []string{"close", "closed"}},
		{"7.3.2 half a code", []piece{whole(ws.OpClose, "a")}, fails(1002)},
		{"7.3.4 reason", []piece{closing(1000, "Hello!")}, closes(1000)},
		{"7.3.5 longest reason", []piece{closing(1000, long)}, closes(1000)},
		{"7.3.6 too long a reason", []piece{closing(1000, long+"x")}, fails(1002)},
		{"7.5.1 reason that is not UTF-8", []piece{closing(1000, "κόσμε\xed\xa0\x80")}, fails(1007)},
		{"7.5 reason cut in a rune", []piece{closing(1000, "\xce")}, fails(1007)},
	}
	for _, code := range []uint16{1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999} {
		list = append(list, testCase{fmt.Sprint("7.7 code ", code), []piece{closing(code, "why")}, closes(int(code))})
	}
	for _, code := range []uint16{0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535} {
		list = append(list, testCase{fmt.Sprint("7.9 code ", code), []piece{closing(code, "")}, fails(1002)})
	}
	return list
}

func limits() []testCase {
	mib := strings.Repeat("0123456789abcdef", 64<<10)
	return []testCase{
		{"9.2 1 MiB", []piece{whole(bin, mib)}, []string{"binary " + mib}},
		{"9.4 1 MiB in two", []piece{part(bin, mib[:1<<19]), whole(cont, mib[1<<19:])}, []string{"binary " + mib}},
		{"longest behind fragments", []piece{part(bin, mib), whole(cont, ""), announced(bin, 8, websocket.MaxPayload)}, []string{"binary " + mib}},
		{"one byte too long", []piece{announced(bin, 8, websocket.MaxPayload+1)}, fails(1009)},
		{"far too long", []piece{announced(text, 8, 1<<62)}, fails(1009)},
		{"too long with its fragments", []piece{part(bin, mib), announced(cont, 8, websocket.MaxPayload-1<<20+1)}, fails(1009)},
	}
}

func TestCases(t *testing.T) {
	for _, end := range ends {
		for _, tc := range cases() {
			t.Run(end.name+"/"+tc.name, func(t *testing.T) {
				b := stream(tc.in, !end.client)
				want := slices.Clone(tc.want)
				for i := range want {
					if end.client { // it sends binary only
						want[i] = strings.Replace(want[i], "text", "binary", 1)
					}
				}
				for split, calls := range splits(b) {
					c := end.open(t)
					out, err := converse(c, calls)
					if got := said(t, out, end.client, err); !slices.Equal(got, want) {
						t.Fatalf("%s: it said %.200q, want %.200q", split, got, want)
					}
					if c.Ready() != (err == nil) {
						t.Errorf("%s: after error %v it is ready: %t", split, err, c.Ready())
					}
				}
			})
		}
	}
}

// The longest message there may be is taken, in one frame and in many.
func TestLongestMessage(t *testing.T) {
	const most = websocket.MaxPayload
	long := strings.Repeat("0123456789abcdef", most/16)
	for name, in := range map[string][]piece{
		"one frame":   {whole(bin, long)},
		"four frames": {part(bin, long[:most/4]), part(cont, long[:most/4]), part(cont, ""), whole(cont, long[:most/2])},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := converse(openServer(t), [][]byte{stream(in, true)})
			if got := said(t, out, false, err); len(got) != 1 || got[0] != "binary "+long {
				t.Errorf("%d bytes in %d frames came back, error %v", len(out), len(got), err)
			}
		})
	}
}

// Once it is over, nothing is read or said any more.
func TestNothingAfterTheEnd(t *testing.T) {
	for _, end := range ends {
		for name, last := range map[string]piece{"closed": closing(1000, ""), "failed": reserved(7, text, "")} {
			c := end.open(t)
			_, _, _, first := c.Next(last(!end.client), nil)
			msg, used, out, err := c.Next(whole(ping, "")(!end.client), []byte("x"))
			if msg != nil || used != 0 || string(out) != "x" || err == nil || err != first {
				t.Errorf("%s %s: Next = %q, %d, %q, %v; want the error %v again and nothing else", end.name, name, msg, used, out, err, first)
			}
		}
	}
}
