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

// Next is Codec.Next over a stream: it takes one unit off the front of in, its
// beginning included that an earlier call left. used counts bytes of in; 0: no
// whole unit is left, and all of in has been kept for the next call.
//
// Only the unit that began in an earlier call is copied together, not all that
// came with it: at 16 KiB a message that copy would cost as much as the work.
func (b *Inbox) Next(c Codec, in, out []byte) (msg []byte, used int, o []byte, err error) {
	if len(b.tail) > 0 {
		return b.join(c, in, out)
	}
	msg, used, o, err = c.Next(in, out)
	if used == 0 && err == nil {
		b.tail = append(b.tail, in...)
	}
	return msg, used, o, err
}

// join completes the unit whose beginning was kept. What is added doubles each
// time, so that at most as much again as the unit's length is copied.
func (b *Inbox) join(c Codec, in, out []byte) (msg []byte, used int, o []byte, err error) {
	for o = out; used < len(in); {
		n := min(len(in)-used, max(len(b.tail), firstJoin))
		b.tail = append(b.tail, in[used:used+n]...)
		used += n
		var whole int
		msg, whole, o, err = c.Next(b.tail, o)
		if whole > 0 {
			used -= len(b.tail) - whole
			b.tail, b.spare = b.spare[:0], b.tail
			return msg, used, o, err
		}
		if err != nil {
			return nil, 0, o, err
		}
	}
	return nil, 0, o, nil
}

// Empty reports whether no unit is waiting for its end.
func (b *Inbox) Empty() bool { return len(b.tail) == 0 }
