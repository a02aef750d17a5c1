package websocket

import (
	"bytes"
	"errors"
	"strings"
)

// maxHead is the longest head of a request or a response, in bytes. It is more
// than browsers send, cookies aside.
const maxHead = 8 << 10

// headLength is the length of the HTTP head at the front of in, the empty line
// at its end included; 0: it is not all there. A line may end in a bare line
// feed: to wait for a carriage return that never comes would hang both ends.
func headLength(in []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(in[at:], '\n')
		if i < 0 {
			return 0
		}
		line := in[at : at+i]
		at += i + 1
		if len(line) == 0 || string(line) == "\r" {
			return at
		}
	}
}

// fields are the fields of a head by their lower-case names, values in the
// order they came.
type fields map[string][]string

// parseHead takes a head apart into its first line and its fields.
func parseHead(head []byte) (first string, f fields, err error) {
	lines := strings.Split(string(head), "\n")
	f = make(fields)
	for i, line := range lines[:len(lines)-2] { // the last two are empty
		line = strings.TrimSuffix(line, "\r")
		if strings.ContainsFunc(line, isControl) {
			return "", nil, errors.New("control character in the head")
		}
		if i == 0 {
			first = line
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) { // so begins a folded line, too
			return "", nil, errors.New("header line without a name")
		}
		name = strings.ToLower(name)
		f[name] = append(f[name], strings.Trim(value, " \t"))
	}
	return first, f, nil
}

// one is the value of a field that is there exactly once, else empty.
func (f fields) one(name string) (value string, ok bool) {
	if len(f[name]) != 1 {
		return "", false
	}
	return f[name][0], true
}

// lists reports whether a field that is a list has a token in it, in whatever
// case.
func (f fields) lists(name, token string) bool {
	for _, value := range f[name] {
		for item := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(item, " \t"), token) {
				return true
			}
		}
	}
	return false
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
