package echo_test

import (
	"bytes"
	"testing"

	"github.com/netmatrix/netmatrix/core/echo"
	"github.com/netmatrix/netmatrix/core/message"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
)

// FuzzDatagram has whatever arrives end nothing: the session answers the next
// good datagram as if nothing had been.
func FuzzDatagram(f *testing.F) {
	good := make([]byte, message.HeaderBytes+8)
	message.Header{Client: 3, Seq: 4}.Put(good)
	f.Add([]byte{}, false)
	f.Add([]byte("15 bytes of it."), true)
	f.Add(good, true)
	f.Fuzz(func(t *testing.T, in []byte, work bool) {
		cfg := echo.Config{Protocol: udp.Protocol()}
		if work {
			cfg.Work = 3
		}
		s := echo.NewServer(cfg).Session()
		if _, err := s.Open(nil); err != nil {
			t.Fatal(err)
		}
		out, err := s.Data(bytes.Clone(in), nil)
		if err != nil {
			t.Fatalf("a datagram of %d bytes ended the session: %v", len(in), err)
		}
		if len(out) != 0 && len(out) != len(in) {
			t.Errorf("a datagram of %d bytes was answered with %d", len(in), len(out))
		}
		want := bytes.Clone(good)
		message.PutResult(want, message.NewWork(cfg.Work).Do(3, 4))
		if out, err = s.Data(bytes.Clone(good), nil); err != nil || !bytes.Equal(out, want) {
			t.Errorf("a good datagram was answered with % x, %v; want % x", out, err, want)
		}
	})
}
