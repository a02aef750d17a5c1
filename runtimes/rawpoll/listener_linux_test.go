package rawpoll

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/netmatrix/netmatrix/core/transport"
	"golang.org/x/sys/unix"
)

// TestAcceptRestsWithoutDescriptors takes all descriptors away and gives them
// back: the listener neither spins nor stops.
func TestAcceptRestsWithoutDescriptors(t *testing.T) {
	r := New()
	server := listen(t, r, transport.Config{})
	free, err := unix.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(free)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(restore)
	tight := limit
	tight.Cur = uint64(free) + 1 // one more, for the end that dials
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &tight); err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", server.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	eventually(t, "the listener rests", func() bool { return r.loops[0].timers.next.Load() != 0 })
	if got := server.Live(); got != 0 {
		t.Errorf("%d live, want 0", got)
	}
	restore()
	nc.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(nc, "again"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(nc, make([]byte, len("again"))); err != nil {
		t.Errorf("no echo once there are descriptors: %v", err)
	}
}
