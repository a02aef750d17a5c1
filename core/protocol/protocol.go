// Package protocol is the contract for framing: what bytes on the wire a
// message is. It knows bytes and nothing else; echoing, work, batching and
// load are written once, over Codec.
package protocol

import "errors"

// A codec returns an error that wraps ErrMalformed, or ErrClosed, and no other.
var (
	// ErrMalformed: the peer broke the protocol.
	ErrMalformed = errors.New("malformed")
	// ErrClosed: by the protocol's own rules the conversation is over, in good
	// order. Next returns it together with the last unit; the session answers
	// the message in it, if there is one, and is done.
	ErrClosed = errors.New("closed")
)

// Codec is the framing of one end of one connection. Calls are serial.
type Codec interface {
	// Open appends what this end sends first, such as an upgrade request.
	Open(out []byte) ([]byte, error)
	// Next takes one protocol unit off the front of in. used is its length; 0
	// means that in holds no whole unit yet, which is no error; the next call
	// then gets the same bytes again with more behind them. msg is its payload,
	// a slice of in, valid until in is, or, put together from several units, of
	// the codec's own memory, valid until the next call; nil when the unit was
	// control only. What the protocol itself answers (pong, 101, close) is
	// appended to out. Next may rewrite in[:used] in place, as unmasking does.
	Next(in, out []byte) (msg []byte, used int, o []byte, err error)
	// Append appends one message framed for this end. The message is head with
	// body behind it, so that neither is copied together first.
	Append(out, head, body []byte) []byte
	// Ready reports whether messages may be sent yet.
	Ready() bool
}

// Protocol is one entry of the list that a plugin serves.
type Protocol struct {
	Name       string // the cell's protocol
	Network    string // transport.Config.Network
	MaxPayload int    // bytes of the largest message
	// Datagram: each message is one datagram; messages may be lost, doubled or
	// out of order, and Overhead is the framing of one.
	Datagram bool
	Overhead int // framing bytes of one message
	// Mirror: a unit that carries a message reads alike in both directions, so
	// that an answer may be sent from the buffer it arrived in.
	Mirror bool
	TLS    bool // the codecs' bytes travel under TLS
	Server func() Codec
	Client func() Codec
	Stack  map[string]string // module@version by layer: tls, http, websocket
}
