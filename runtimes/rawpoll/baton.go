package rawpoll

import "sync/atomic"

// signal is a set of things that a source is told in one turn.
type signal uint32

const (
	readable signal = 1 << iota // input or the end of input has arrived
	writable                    // output fits again
	hungUp                      // the peer has sent its last byte, or the connection broke
	expired                     // the timer ran out
	woken                       // Group.Wake
	shut                        // Group.Close
	resumed                     // off the ready list, where it waited with more to do

	taken signal = 1 << 31
)

// baton makes the turns of a source serial: whoever has it takes them, the
// others leave their signals with it and go on. The zero value lies ready.
//
// Note: the usual way to share one epoll descriptor is EPOLLONESHOT, re-armed
// after each event, with a lock for the memory model. The baton does without
// the call to re-arm, which is worth about a tenth of the round trips per CPU
// second, and without the lock: an edge that comes during a turn finds the
// baton taken.
type baton struct{ state atomic.Uint32 }

// take takes the baton, or leaves s with who has it.
func (b *baton) take(s signal) bool {
	for {
		if b.state.CompareAndSwap(0, uint32(taken)) {
			return true
		}
		if old := signal(b.state.Load()); old&taken != 0 && b.state.CompareAndSwap(uint32(old), uint32(old|s)) {
			return false
		}
	}
}

// give lays the baton down, unless signals were left with it.
func (b *baton) give() bool { return b.state.CompareAndSwap(uint32(taken), 0) }

// left picks up the signals left with the baton. Only who has it may call.
func (b *baton) left() signal { return signal(b.state.Swap(uint32(taken))) &^ taken }
