package authority_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/netmatrix/netmatrix/core/authority"
	"github.com/netmatrix/netmatrix/core/control"
)

// The certificate is good for the server's name and vouched for by the authority
// that came with it, not by another run's.
func TestVouchesForItsServer(t *testing.T) {
	ours, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	other, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(ours.Cert, ours.Key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	verify := func(ca []byte) error {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			t.Fatal("the authority is no certificate")
		}
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: control.ServerName})
		return err
	}
	if err := verify(ours.CA); err != nil {
		t.Errorf("its own authority does not vouch for it: %v", err)
	}
	if verify(other.CA) == nil {
		t.Error("the authority of another run vouches for it")
	}
}

func TestRead(t *testing.T) {
	want, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := authority.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of an empty folder = %v, want %v", err, fs.ErrNotExist)
	}
	for name, b := range map[string][]byte{"ca.pem": want.CA, "cert.pem": want.Cert, "key.pem": want.Key} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := authority.Read(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %v, %v, want what was written", got, err)
	}
}
