package tlslayer

// handshake runs the handshake of crypto/tls, which wants to wait for its
// input, beside a session, which may not wait. The two take turns: only one
// runs at a time, and each turn happens before the next, so that they share
// the wire without a lock.
//
// Note: crypto/tls cannot be resumed in the middle of a handshake as it can in
// the middle of a record, its error is final; and a coroutine of iter.Pull is
// bound to a thread if that is locked. Hence a goroutine.
type handshake struct {
	turn chan struct{} // to the handshake: go on
	back chan bool     // from it: whether it is over
	err  error         // once it is over
}

// begin prepares a handshake that starts with the first advance.
func begin(w *wire, run func() error) *handshake {
	h := &handshake{turn: make(chan struct{}), back: make(chan bool)}
	w.handshake = h
	go func() {
		<-h.turn
		h.err = run()
		h.back <- true
	}()
	return h
}

// advance lets the handshake go as far as its input takes it.
func (h *handshake) advance() (over bool) {
	h.turn <- struct{}{}
	return <-h.back
}

// pause is called by the handshake when it needs more input.
func (h *handshake) pause() {
	h.back <- false
	<-h.turn
}
