package rawpoll

import "golang.org/x/sys/unix"

const (
	// mailSlots is the most datagrams that one call takes or sends.
	mailSlots = 32
	// slotBytes holds the largest datagram there is, 65,535 bytes less its
	// headers, and more, so that none is ever cut off unseen. The odd number of
	// cache lines keeps the beginnings of slots out of each other's way.
	slotBytes = 64<<10 + 17*64
)

// datagram is one datagram in memory and the address of its other end; nil on a
// connected socket.
type datagram struct {
	data []byte
	peer *address
}

// mail is scratch space for datagrams: those that came with one call, and the
// answers to them, which leave with one call.
type mail struct {
	in    [mailSlots]datagram
	slots []byte // what in is received into
	names [mailSlots]address
	out   []datagram
	text  []byte // what sessions have appended for out
	calls calls
}

func newMail() *mail {
	m := &mail{slots: make([]byte, mailSlots*slotBytes)}
	m.calls.prepare(m)
	return m
}

// slot is where datagram i is received.
func (m *mail) slot(i int) []byte { return m.slots[i*slotBytes : (i+1)*slotBytes : (i+1)*slotBytes] }

// room is what the next call of a session may append to: the end of text, empty,
// behind what has not been sent yet.
func (m *mail) room() []byte { return m.text[len(m.text):] }

// add cuts the output of one call into datagrams of at most size bytes to peer;
// 0: one datagram.
func (m *mail) add(out []byte, size int, peer *address) {
	if len(out) == 0 {
		return
	}
	switch {
	case within(out, m.text):
		m.text = m.text[:len(m.text)+len(out)]
	case !within(out, m.slots): // it has outgrown its room: more of that for the next
		if need := len(m.text) + len(out); need > cap(m.text) {
			m.text = make([]byte, 0, 2*need)
		}
	}
	if size == 0 {
		size = len(out)
	}
	for len(out) > 0 {
		n := min(size, len(out))
		m.out = append(m.out, datagram{out[:n], peer})
		out = out[n:]
	}
}

// clear makes room again once nothing of out is needed any more.
func (m *mail) clear() { m.out, m.text = m.out[:0], m.text[:0] }

// send sends list as far as it goes in one call.
func (m *mail) send(fd int, list []datagram) (sent int, errno unix.Errno) {
	return m.calls.send(fd, list[:min(len(list), mailSlots)])
}
