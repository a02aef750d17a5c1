package tlslayer_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// traffic is one direction of TLS_AES_128_GCM_SHA256, by hand: crypto/tls
// answers a KeyUpdate but offers no way to send one.
type traffic struct {
	secret []byte
	aead   cipher.AEAD
	iv     []byte
	seq    uint64
}

func newTraffic(t *testing.T, secret []byte) *traffic {
	t.Helper()
	block, err := aes.NewCipher(expand(t, secret, "key", 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return &traffic{secret: secret, aead: aead, iv: expand(t, secret, "iv", 12)}
}

func expand(t *testing.T, secret []byte, label string, n int) []byte {
	t.Helper()
	label = "tls13 " + label
	info := string([]byte{byte(n >> 8), byte(n), byte(len(label))}) + label + "\x00"
	key, err := hkdf.Expand(sha256.New, secret, info, n)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// updated is the direction after a KeyUpdate.
func (d *traffic) updated(t *testing.T) *traffic {
	return newTraffic(t, expand(t, d.secret, "traffic upd", sha256.Size))
}

func (d *traffic) nonce() []byte {
	nonce := bytes.Clone(d.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, d.seq) {
		nonce[4+i] ^= b
	}
	d.seq++
	return nonce
}

const (
	handshakeRecord   = 22
	applicationRecord = 23
)

func (d *traffic) seal(kind byte, content []byte) []byte {
	header := []byte{applicationRecord, 3, 3}
	header = binary.BigEndian.AppendUint16(header, uint16(len(content)+1+d.aead.Overhead()))
	return d.aead.Seal(header, d.nonce(), append(bytes.Clone(content), kind), header)
}

// openRecord takes the first record off b.
func (d *traffic) openRecord(t *testing.T, b []byte) (kind byte, content, rest []byte) {
	t.Helper()
	if len(b) < 5 {
		t.Fatalf("%d bytes are no record", len(b))
	}
	end := 5 + int(binary.BigEndian.Uint16(b[3:]))
	content, err := d.aead.Open(nil, d.nonce(), b[5:end], b[:5])
	if err != nil {
		t.Fatalf("a record of %d bytes: %v", end, err)
	}
	return content[len(content)-1], content[:len(content)-1], b[end:]
}

// TestKeyUpdate: an update that asks for one in return, cut anywhere, is seen
// by nobody inside, and is no end of the stream.
func TestKeyUpdate(t *testing.T) {
	update := []byte{24, 0, 0, 1, 1} // KeyUpdate, update_requested
	serverConfig, clientConfig := configs(t)
	for cut := range 27 + 28 + 1 { // the lengths of the two records
		var secrets bytes.Buffer
		config := clientConfig.Clone()
		config.KeyLogWriter = &secrets
		var got []byte
		client := &speaker{&plain{data: func(in, out []byte) ([]byte, error) {
			got = append(got, in...)
			return out, nil
		}}, []byte("ours")}
		l := &link{t: t, server: tlslayer.Server(&plain{}, serverConfig), client: tlslayer.Client(client, config)}
		l.open()
		if l.client.State().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
			t.Skip("this machine prefers another cipher: ", tlslayer.Describe(l.client.State()))
		}
		down, up := secret(t, &secrets, "SERVER_TRAFFIC_SECRET_0"), secret(t, &secrets, "CLIENT_TRAFFIC_SECRET_0")
		up.seq = 1 // the handshake's end brought the session's first Wake

		wire := down.seal(handshakeRecord, update)
		wire = append(wire, down.updated(t).seal(applicationRecord, []byte("theirs"))...)
		out, err := l.client.Data(wire[:cut], nil)
		l.must(err)
		out, err = l.client.Data(wire[cut:], out)
		l.must(err)
		out, _, err = l.client.(transport.Waker).Wake(out)
		l.must(err)
		if string(got) != "theirs" || client.ended != 0 {
			t.Fatalf("cut at %d: the session inside got %q and %d ends", cut, got, client.ended)
		}
		kind, content, out := up.openRecord(t, out)
		if kind != handshakeRecord || !bytes.Equal(content, []byte{24, 0, 0, 1, 0}) {
			t.Errorf("cut at %d: the answer is % x in a record of kind %d", cut, content, kind)
		}
		if _, content, _ := up.updated(t).openRecord(t, out); string(content) != "ours" {
			t.Errorf("cut at %d: after the update the client said %q", cut, content)
		}
		l.client.Close(nil)
		l.server.Close(nil)
	}
}

func secret(t *testing.T, log *bytes.Buffer, name string) *traffic {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			b, err := hex.DecodeString(fields[2])
			if err != nil {
				t.Fatal(err)
			}
			return newTraffic(t, b)
		}
	}
	t.Fatalf("no %s was logged", name)
	return nil
}
