// Package authority makes the certificates of a run: an authority that lives as
// long as the call that makes it, and the certificate of a server that it vouches
// for. It knows nothing of connections.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
)

// Certificates are what the ends of a TLS connection need, PEM: a server Cert
// and Key, a client CA.
type Certificates struct {
	CA, Cert, Key []byte
}

// validity is how long certificates made for a run are good for: longer than
// any run, and begun an hour ago for machines that put their clock back.
const validity = 30 * 24 * time.Hour

// New makes an authority and a server certificate of it for
// control.ServerName, ECDSA P-256 both. The authority's key is forgotten at once.
func New() (*Certificates, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "netmatrix run"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: control.ServerName},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{control.ServerName}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, ca, &key.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &Certificates{
		CA:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serverDER}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

// Read takes ca.pem, cert.pem and key.pem from a folder.
func Read(dir string) (*Certificates, error) {
	c := &Certificates{}
	for _, f := range []struct {
		name string
		into *[]byte
	}{{"ca.pem", &c.CA}, {"cert.pem", &c.Cert}, {"key.pem", &c.Key}} {
		b, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return nil, fmt.Errorf("certificates: %s must hold ca.pem, cert.pem (for the name %s) and key.pem: %w", dir, control.ServerName, err)
		}
		*f.into = b
	}
	return c, nil
}
