package http1

import "bytes"

// body is the body of a request or of a response: so many bytes that are told
// beforehand, or chunks. The zero value is ready for begin.
type body struct {
	phase phase
	left  int    // bytes that the body, or this chunk of it, still has
	parts []byte // the chunks so far
	waste int    // bytes of chunk lines beyond what data excuses
	tail  int    // bytes of the trailer so far
}

type phase uint8

const (
	whole     phase = iota // left bytes, taken in one piece
	chunkSize              // the line in front of a chunk
	chunkData
	chunkEnd // the line end behind the data
	trailer
	over
)

func (b *body) begin(h *head) {
	b.phase, b.left = whole, h.length
	if h.chunked {
		*b = body{phase: chunkSize, parts: b.parts[:0]}
		if b.parts == nil {
			b.parts = []byte{} // an empty body is one too
		}
	}
}

// take takes the body off the front of in, or of one in chunks as much as is
// there. msg nil: it is not complete.
func (b *body) take(in []byte) (msg []byte, used int, f *fault) {
	if b.phase == whole {
		if len(in) < b.left {
			return nil, 0, nil
		}
		return in[:b.left:b.left], b.left, nil
	}
	for b.phase != over {
		n, f := b.step(in[used:])
		if f != nil || n == 0 {
			return nil, used, f
		}
		used += n
	}
	return b.parts[:len(b.parts):len(b.parts)], used, nil
}

// step takes the next part of a chunked body; 0: it is not there yet.
func (b *body) step(in []byte) (used int, f *fault) {
	switch b.phase {
	case chunkSize:
		line, n, f := chunkLine(in, maxChunkLine)
		if f == nil && n > 0 {
			f = b.chunk(line)
		}
		return n, f
	case chunkData:
		n := min(len(in), b.left)
		b.parts = append(b.parts, in[:n]...)
		if b.left -= n; b.left == 0 {
			b.phase = chunkEnd
		}
		return n, nil
	case chunkEnd:
		if len(in) < 2 {
			return 0, nil
		}
		if string(in[:2]) != "\r\n" {
			return 0, bad("chunk longer than its size")
		}
		b.phase = chunkSize
		return 2, nil
	}
	return b.trailerLine(in)
}

// chunkLine takes a line of the chunked coding off the front of in. Other than
// in a head, its end is a carriage return and a line feed and nothing else.
func chunkLine(in []byte, most int) (line []byte, n int, f *fault) {
	n, tooLong := cutLine(in, most)
	switch {
	case tooLong:
		return nil, 0, bad("line of a chunked body too long")
	case n == 0:
		return nil, 0, nil
	case n < 2 || bytes.IndexByte(in[:n], '\r') != n-2:
		return nil, 0, bad("line of a chunked body that does not end in CR LF")
	}
	return in[: n-2 : n-2], n, nil
}

// chunk takes the line in front of a chunk: a size and perhaps extensions,
// which mean nothing here.
func (b *body) chunk(line []byte) *fault {
	size, _, _ := cut(trimRight(line), ';')
	n, ok := hex(size)
	switch {
	case !ok:
		return bad("malformed chunk size")
	case n > MaxPayload-len(b.parts):
		return tooLarge()
	}
	// Chunks of one byte are legal, and so are extensions; lines that are
	// mostly neither data nor needed for it are an attack.
	b.waste = max(b.waste+len(line)+2-16-2*n, 0)
	if b.waste > 16<<10 {
		return bad("chunked body that is mostly not data")
	}
	b.phase, b.left = chunkData, n
	if n == 0 {
		b.phase = trailer
	}
	return nil
}

// trailerLine takes one line of the trailer, up to the empty one at its end.
// Its fields have to be well formed, and mean nothing here.
func (b *body) trailerLine(in []byte) (used int, f *fault) {
	line, n, f := chunkLine(in, maxTrailer-b.tail)
	if f != nil || n == 0 {
		return 0, f
	}
	if b.tail += n; len(line) == 0 {
		b.phase = over
		return n, nil
	}
	_, _, f = cutField(line)
	return n, f
}

func tooLarge() *fault { return &fault{413, "body too large"} }

// hex reads up to 16 digits and nothing else. Beyond what any limit here allows
// it counts no further.
func hex(digits []byte) (n int, ok bool) {
	for _, c := range digits {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		n = min(n<<4|int(c), MaxPayload+1)
	}
	return n, len(digits) > 0 && len(digits) <= 16
}
