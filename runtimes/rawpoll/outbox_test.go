package rawpoll

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestOutboxKeepsOrder adds and takes at random and wants the bytes in order,
// in room that stays in proportion to what waits.
func TestOutboxKeepsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	source := random(1 << 20)
	var o outbox
	var got []byte
	for added := 0; added < len(source) || !o.empty(); {
		n := min(rng.IntN(3000), len(source)-added)
		o.add(source[added : added+n])
		added += n
		if rest := o.rest(); len(rest) > 0 {
			k := 1 + rng.IntN(min(len(rest), 3500))
			got = append(got, rest[:k]...)
			o.took(k)
		}
		if room, waits := cap(o.buf), len(o.rest()); room > 4*waits+64<<10 {
			t.Fatalf("room for %d bytes while %d wait", room, waits)
		}
	}
	if !bytes.Equal(got, source) {
		t.Error("bytes out differ from bytes in")
	}
}
