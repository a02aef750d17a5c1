package tlslayer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"
)

// configs are those of two ends that trust each other: a P-256 certificate for
// "server" that the client verifies.
func configs(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "server"},
		DNSNames:              []string{"server"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	// One curve keeps the length of a handshake the same.
	curves := []tls.CurveID{tls.X25519}
	return &tls.Config{
			Certificates:     []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
			CurvePreferences: curves,
		}, &tls.Config{
			RootCAs: pool, ServerName: "server",
			CurvePreferences: curves,
		}
}
