package http1

import "bytes"

// cutLine is the length of the line at the front of in, its line feed included;
// 0: the end of the line is not there yet. A line longer than most is told as
// soon as that is certain.
func cutLine(in []byte, most int) (n int, tooLong bool) {
	n = bytes.IndexByte(in[:min(len(in), most)], '\n') + 1
	return n, n == 0 && len(in) >= most
}

// trimEnd takes the line end off a line of a head. As RFC 9112, section 2.2,
// allows, a bare line feed is one: to wait for a carriage return that never
// comes would hang both ends.
func trimEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// cutField takes a field line apart.
func cutField(line []byte) (name, value []byte, f *fault) {
	if isBlank(line[0]) {
		return nil, nil, bad("folded header line")
	}
	colon := 0
	for colon < len(line) && class[line[colon]]&inToken != 0 {
		colon++
	}
	if colon == 0 || colon == len(line) || line[colon] != ':' {
		return nil, nil, bad("header line that does not begin with a name and a colon")
	}
	name, value = line[:colon], line[colon+1:]
	if !all(value, inValue) {
		return nil, nil, bad("control character in a header")
	}
	return name, trim(value), nil
}

// cut takes b apart at the first c in it.
func cut(b []byte, c byte) (before, after []byte, found bool) {
	if i := bytes.IndexByte(b, c); i >= 0 {
		return b[:i], b[i+1:], true
	}
	return b, nil, false
}

func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return trimRight(b)
}

func trimRight(b []byte) []byte {
	for n := len(b); n > 0 && isBlank(b[n-1]); n-- {
		b = b[:n-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// is compares what is known to hold no control characters with a word in lower
// case, whatever the case of b: the bit that makes a letter small turns nothing
// else but control characters into what such a word is made of.
func is(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// lists reports whether word is an item of a list with commas.
func lists(list []byte, word string) bool {
	for {
		item, rest, more := cut(list, ',')
		if is(trim(item), word) {
			return true
		}
		if !more {
			return false
		}
		list = rest
	}
}

// number reads digits and nothing else. Beyond what any limit here allows it
// counts no further.
func number(digits []byte) (n int, ok bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), MaxPayload+1)
	}
	return n, len(digits) > 0
}

// all reports whether each byte of b may stand there.
func all(b []byte, there byte) bool {
	for _, c := range b {
		if class[c]&there == 0 {
			return false
		}
	}
	return true
}

// Where a byte may stand.
const (
	inToken byte = 1 << iota
	inValue      // of a field
	inHost
	inTarget
)

// class says where each byte may stand.
var class = classes()

func classes() (table [256]byte) {
	for c := range table {
		if c >= ' ' && c != 0x7f || c == '\t' {
			table[c] |= inValue
		}
		if c > ' ' && c != 0x7f {
			table[c] |= inTarget
		}
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			table[c] |= inToken | inHost
		}
	}
	for _, c := range []byte("!#$%&'*+-.^_`|~") {
		table[c] |= inToken
	}
	for _, c := range []byte("!$%&'()*+,-.:;=[]_~") {
		table[c] |= inHost
	}
	return table
}
