package protocol

// Inbox cuts a stream into units, keeping the incomplete one at its end from
// one call to the next. The zero value is ready.
type Inbox struct {
	tail  []byte // the beginning of a unit, from earlier calls
	spare []byte // the unit completed last: its message outlives the next beginning
}

// firstJoin is how many bytes are first added to a kept beginning; it covers
// the headers of most units.
const firstJoin = 512

// Next takes one unit off the front of in. ok is false when none is left: the
// rest has been kept for the next call. msg is as in Codec.Next; rest is what
// to pass as in next.
//
// Only the unit that began in an earlier call is copied together, not all that
// came with it: at 16 KiB a message that copy would cost as much as the work.
func (b *Inbox) Next(c Codec, in, out []byte) (msg, rest, o []byte, ok bool, err error) {
	if len(b.tail) > 0 {
		return b.join(c, in, out)
	}
	if len(in) == 0 {
		return nil, nil, out, false, nil
	}
	msg, used, o, err := c.Next(in, out)
	if err != nil {
		return nil, nil, o, false, err
	}
	if used == 0 {
		b.tail = append(b.tail, in...)
		return nil, nil, o, false, nil
	}
	return msg, in[used:], o, true, nil
}

// join completes the unit whose beginning was kept. What is added doubles each
// time, so that at most as much again as the unit's length is copied.
func (b *Inbox) join(c Codec, in, out []byte) (msg, rest, o []byte, ok bool, err error) {
	o = out
	for added := 0; added < len(in); {
		n := min(len(in)-added, max(len(b.tail), firstJoin))
		b.tail = append(b.tail, in[added:added+n]...)
		added += n
		var used int
		msg, used, o, err = c.Next(b.tail, o)
		if err != nil {
			return nil, nil, o, false, err
		}
		if used > 0 {
			over := len(b.tail) - used
			b.tail, b.spare = b.spare[:0], b.tail
			return msg, in[added-over:], o, true, nil
		}
	}
	return nil, nil, o, false, nil
}

// Empty reports whether no unit is waiting for its end.
func (b *Inbox) Empty() bool { return len(b.tail) == 0 }
