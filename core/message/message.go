// Package message is what travels in every protocol: a header that tells
// messages apart, a body derived from it, and the result of the server's work.
// It knows nothing of framing, time or sockets.
//
// Layout, little endian, HeaderBytes in all, then the body:
//
//	magic   uint32
//	client  uint32  the connection
//	seq     uint32  counts the messages of the connection from 0, wraps
//	result  uint32  0 in a request; in an echo what Work.Do gave
package message

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// HeaderBytes is the length of the header and the smallest payload.
const HeaderBytes = 16

const magic = 0x3178_6d6e // "nmx1"

// Header is the first HeaderBytes of a message.
type Header struct {
	Client, Seq, Result uint32
}

// Put writes the header into b[:HeaderBytes]. Two whole words: a copy made at
// once, as appending a message is, would have to wait for four halves.
func (h Header) Put(b []byte) {
	_ = b[HeaderBytes-1]
	binary.LittleEndian.PutUint64(b, magic|uint64(h.Client)<<32)
	binary.LittleEndian.PutUint64(b[8:], uint64(h.Seq)|uint64(h.Result)<<32)
}

// Parse reads the header of a message; ok is false for anything else.
func Parse(msg []byte) (h Header, ok bool) {
	if len(msg) < HeaderBytes || binary.LittleEndian.Uint32(msg) != magic {
		return Header{}, false
	}
	return Header{
		Client: binary.LittleEndian.Uint32(msg[4:]),
		Seq:    binary.LittleEndian.Uint32(msg[8:]),
		Result: binary.LittleEndian.Uint32(msg[12:]),
	}, true
}

// PutResult writes the result into the header of a message in place.
func PutResult(msg []byte, result uint32) {
	binary.LittleEndian.PutUint32(msg[12:HeaderBytes], result)
}

// offsets is the number of different bodies; a power of two. Few enough that
// the table of a small payload stays in the first-level cache.
const offsets = 4096

// Bodies gives each message its body: a slice of one pseudo-random table at an
// offset that follows from client and sequence, so that nothing is generated
// for a message and a mix-up of two messages shows.
type Bodies struct {
	table []byte
	n     int
	seed  uint32
}

// NewBodies makes the table for messages of payload bytes.
func NewBodies(seed uint64, payload int) *Bodies {
	n := payload - HeaderBytes
	if n < 0 {
		panic("message: payload smaller than the header")
	}
	rng := rand.New(rand.NewPCG(seed, uint64(payload)))
	table := make([]byte, 0, n+offsets+8)
	for len(table) < n+offsets {
		table = binary.LittleEndian.AppendUint64(table, rng.Uint64())
	}
	return &Bodies{table: table, n: n, seed: rng.Uint32()}
}

// stride is odd, so that offsets consecutive messages of a connection all start
// elsewhere in the table, and so do 64 of each of 64 neighbouring connections.
const stride = 2531

// Body is the body of a message. It is shared: not to be written to.
func (b *Bodies) Body(client, seq uint32) []byte {
	at := (client<<6 + seq) * stride % offsets
	return b.table[at : int(at)+b.n : int(at)+b.n]
}

// Equal reports whether msg has the length and the body that belong to client
// and seq.
func (b *Bodies) Equal(msg []byte, client, seq uint32) bool {
	return len(msg) == HeaderBytes+b.n && bytes.Equal(msg[HeaderBytes:], b.Body(client, seq))
}

// Chosen picks 1 message in 64 by a seeded hash, to have its whole body checked.
func (b *Bodies) Chosen(client, seq uint32) bool {
	return mix(client^b.seed, seq)>>26 == 0
}

// mix hashes two words into one whose upper bits depend on all of both.
func mix(a, b uint32) uint32 {
	h := a*0x9e3779b1 + b*0x85ebca6b
	h ^= h >> 15
	return h * 0x2c1b3c6d
}
