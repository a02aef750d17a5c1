// Package transport is the data-plane contract between a runtime, which knows
// sockets, and a session, which knows what the bytes mean.
//
// It holds the contract and nothing else: no runtime, no protocol, no clock of
// its own. Everything a runtime author must know is on this page.
package transport

import "errors"

// ErrDone is what a session returns when the conversation is over and all is
// well. The runtime then closes the connection and reports Close(nil).
var ErrDone = errors.New("done")

// Session is one end of one connection as a state machine without IO.
//
// The runtime calls it; calls for one session are serial, each happens before
// the next in the sense of the Go memory model, and they may come from any
// goroutine. A call never waits for the network.
//
// Open, Data and End append what they want to send to out and return the
// result. in and out are lent for the call; a session may overwrite in and may
// return a slice of it in place of out when out is empty, so that an answer can
// be sent from the buffer it arrived in. The runtime has sent or copied the
// result before it touches in again.
//
// After an error (ErrDone too) the runtime sends what the call returned, shuts
// its sending side, drops what the peer still sends for one second at most,
// and closes. With datagrams there is no side to shut and no End: it closes.
//
// A datagram may get lost, but not by the runtime: what the socket has no room
// for is kept. One refused by the peer's machine is lost like any other; a dialled
// session ends with an error when more are refused a second later and none has
// arrived in between.
type Session interface {
	// Open is called once, first, when the connection is established.
	Open(out []byte) ([]byte, error)
	// Data hands over what arrived: a stream cut anywhere, or exactly one
	// datagram, whole and not empty. An answer to a datagram goes to the address
	// it came from. A listening datagram session has nobody else to send to, so
	// what it returns from Open or Wake ends it with an error.
	Data(in, out []byte) ([]byte, error)
	// End says that the peer sends no more. What it returns is sent, then the
	// runtime goes on as after ErrDone.
	End(out []byte) ([]byte, error)
	// Close is called exactly once, last, whatever happened before; nil: the
	// conversation ended well. One that Group.Close cuts off is given an error
	// that wraps net.ErrClosed. A session that never opened gets its Close too.
	Close(err error)
}

// Waker is what a session may implement to act on its own. Wake is called
// after Open, after Group.Wake, and once Config.Clock has reached next, never
// early. It returns the next time it wants to be called (0: only when asked),
// which replaces the one before. out and errors are as in Session.
//
// A session inside another one, which puts TLS or an upgrade in front, has its
// Wake after Open within a Data call. Data cannot pass next on, so that one is
// lost: who relies on a time calls Group.Wake once the sessions are open.
type Waker interface {
	Wake(out []byte) (o []byte, next int64, err error)
}

// Runtime moves bytes between sockets and sessions. All groups of one Runtime
// share its IO threads, which exist while a group is open; the first group's
// Config decides IOModel and Threads.
type Runtime interface {
	Info() Info
	// Listen and Dial refuse what Info.Lacks lists, and whatever Config has no
	// word for, with an error that names it.
	//
	// Listen accepts connections at c.Address (port 0 allowed), making one
	// session for each; with datagrams, one session for each socket. While a
	// connection's output is pending its input is not read, unless Info.ReadsOn
	// says why the runtime cannot.
	Listen(c Config, session func() Session) (Group, error)
	// Dial connects session i to addrs[i mod len(addrs)], in order, and returns
	// once every one is connected, or with the first error, none left open and
	// Close called on every session.
	// A dialled end always reads on, whatever output is pending.
	Dial(c Config, addrs []string, s []Session) (Group, error)
}

// Group is what one Listen or Dial has opened.
type Group interface {
	// Addrs are the addresses listened on (several for sharded datagrams) or,
	// of a dialled group, the local ones.
	Addrs() []string
	// Live counts the connections opened and not yet closed.
	Live() int
	// Wake has Wake called on every session that is a Waker. From any goroutine.
	Wake()
	// Close closes listener and connections. It returns after the last goroutine
	// of the group has ended and every session has had its Close. Not to be
	// called from a session.
	Close() error
}

// Worker is what a Group may implement when its IO threads poll without
// sleeping, so that their CPU time does not tell how busy they were.
type Worker interface {
	// Working is the time in nanoseconds that the IO threads have had events in
	// hand since the group was opened.
	Working() int64
}

// Buffered is what a Group may implement to tell which socket buffers the kernel
// granted to one of its connections (of a listening group: to the listener), in
// bytes as the kernel reports them.
type Buffered interface {
	Buffers() (send, receive int)
}

// Config is what a runtime is told. The zero value of each field is usable:
// it stands for the runtime's own default. No number may be negative.
type Config struct {
	Network   string // "tcp" (default) or "udp"
	Address   string // Listen: host:port, port 0 for any; default 127.0.0.1:0
	Execution string // "callback" or "goroutine"
	IOModel   string // "shared" (default) or "sharded"
	Threads   int    // IO threads; default 1

	SendBuffer    int // socket buffer to ask for, bytes; 0: the kernel's own
	ReceiveBuffer int // as SendBuffer
	ReadBuffer    int // bytes read from a socket at once

	DatagramBytes int          // udp: one call's output is cut into datagrams of this size
	Busy          bool         // never sleep while a Waker has a next; Dial refuses it where load_wait busy is lacking
	Clock         func() int64 // monotonic nanoseconds; from any goroutine; default: since start
}

// Info says what a runtime is and what it cannot do.
type Info struct {
	Name    string
	Version string // of the library underneath, as module@version
	// Models says in words how each IO model is done, for example
	// {"shared": "one epoll descriptor, N threads, one-shot re-arm"}.
	Models  map[string]string
	ReadsOn string // why it cannot pause reading; empty: it can
	Lacks   []Lack
}

// Lack is one value of one axis that a runtime cannot do, with the reason in
// words that follow "because". Axis is a field of a cell, for example "protocol".
type Lack struct {
	Axis, Value, Why string
}
