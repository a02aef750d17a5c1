package http1

// head is the head of a request or of a response. It is read line by line as
// the lines come in, so that what is wrong is found in the same place however
// the stream was cut. The zero value is ready.
type head struct {
	at      int // bytes of it that have been read, whole lines
	fieldAt int // where the fields begin; 0: the first line is not read yet
	fields  int // how many there were

	old bool // HTTP/1.0
	// What the fields say.
	length     int // of the body
	digits     int // how long the text of length was; 0: no length is told
	chunked    bool
	close      bool // Connection
	keepAlive  bool // Connection
	hosts      int  // how many
	oddHost    bool // one of them is malformed
	waits      bool // Expect: 100-continue
	expects    bool // Expect, anything else
	badTrailer bool // it announces what decides where a body ends
}

// read goes on reading where it stopped; in begins where the head does. first
// takes the first line. used is the length of the head; 0: its end is not there
// yet.
func (h *head) read(in []byte, first func(line []byte) *fault) (used int, f *fault) {
	if h.fieldAt == 0 {
		n, tooLong := cutLine(in[h.at:], maxFirstLine)
		if tooLong {
			return 0, &fault{414, "first line too long"}
		}
		if n == 0 {
			return 0, nil
		}
		if f := first(trimEnd(in[h.at : h.at+n])); f != nil {
			return 0, f
		}
		h.at += n
		h.fieldAt = h.at
	}
	for {
		n, tooLong := cutLine(in[h.at:], h.fieldAt+maxFieldArea-h.at)
		if tooLong {
			return 0, &fault{431, "header too long"}
		}
		if n == 0 {
			return 0, nil
		}
		line := trimEnd(in[h.at : h.at+n])
		h.at += n
		if len(line) == 0 {
			return h.at, h.check()
		}
		if h.fields++; h.fields > maxFields {
			return 0, &fault{431, "too many header lines"}
		}
		name, value, f := cutField(line)
		if f == nil {
			f = h.field(name, value)
		}
		if f != nil {
			return 0, f
		}
	}
}

// field takes what one field says, if it matters here. Names differ in length,
// so that most are told apart by that.
func (h *head) field(name, value []byte) *fault {
	switch {
	case is(name, "host"):
		h.hosts++
		h.oddHost = h.oddHost || !all(value, inHost)
	case is(name, "content-length"):
		return h.contentLength(value)
	case is(name, "transfer-encoding"):
		return h.transferEncoding(value)
	case is(name, "connection"):
		h.close = h.close || lists(value, "close")
		h.keepAlive = h.keepAlive || lists(value, "keep-alive")
	case is(name, "expect"):
		waits := is(value, "100-continue")
		h.waits = h.waits || waits
		h.expects = h.expects || !waits && len(value) > 0
	case is(name, "trailer"):
		h.badTrailer = h.badTrailer || lists(value, "content-length") || lists(value, "transfer-encoding") || lists(value, "trailer")
	}
	return nil
}

// contentLength allows the same length to be told twice, but not in other words.
func (h *head) contentLength(value []byte) *fault {
	n, ok := number(value)
	if !ok {
		return bad("malformed Content-Length")
	}
	if h.digits > 0 && (n != h.length || len(value) != h.digits) {
		return bad("more than one Content-Length")
	}
	h.length, h.digits = n, len(value)
	return nil
}

// transferEncoding allows one coding only, since where a body ends would
// depend on how well an intermediary knows the others.
func (h *head) transferEncoding(value []byte) *fault {
	switch {
	case h.old:
		return bad("Transfer-Encoding in HTTP/1.0")
	case h.chunked || !is(value, "chunked"):
		return &fault{501, "transfer coding other than chunked"}
	}
	h.chunked = true
	return nil
}

// check judges what only all fields together can tell.
func (h *head) check() *fault {
	switch {
	case h.chunked && h.digits > 0:
		return bad("both Content-Length and Transfer-Encoding")
	case h.chunked && h.badTrailer:
		return bad("forbidden name in Trailer")
	}
	return nil
}

// last reports whether the connection ends with the message of this head.
func (h *head) last() bool { return h.close || h.old && !h.keepAlive }

// version reads the version at the end of a request line or the beginning of a
// status line. Of the versions 1.x, all from 1.1 on read alike.
func (h *head) version(b []byte) *fault {
	switch {
	case string(b) == "HTTP/1.1":
		return nil
	case len(b) != len("HTTP/1.1") || string(b[:5]) != "HTTP/" || b[6] != '.' || !isDigit(b[5]) || !isDigit(b[7]):
		return bad("malformed HTTP version")
	case b[5] != '1':
		return &fault{505, "HTTP version other than 1.x"}
	}
	h.old = b[7] == '0'
	return nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
