package rawpoll

// outbox keeps the output that a socket did not take, in order. The zero value
// is ready. Its room is reused: nothing is allocated once it has grown.
type outbox struct {
	buf  []byte
	sent int // bytes at the front of buf already gone
}

func (o *outbox) empty() bool { return len(o.buf) == 0 }

// rest is what is still to be sent, valid until the next add.
func (o *outbox) rest() []byte { return o.buf[o.sent:] }

// add appends a copy of b.
func (o *outbox) add(b []byte) {
	// Moving less than what has gone keeps the copying in proportion.
	if len(o.buf)+len(b) > cap(o.buf) && o.sent >= len(o.buf)-o.sent {
		o.buf = o.buf[:copy(o.buf, o.buf[o.sent:])]
		o.sent = 0
	}
	o.buf = append(o.buf, b...)
}

// took drops n bytes that are gone.
func (o *outbox) took(n int) {
	o.sent += n
	if o.sent == len(o.buf) {
		o.buf, o.sent = o.buf[:0], 0
	}
}

// clear drops everything.
func (o *outbox) clear() { *o = outbox{} }
