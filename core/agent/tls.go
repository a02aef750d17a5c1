package agent

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/protocol/tlslayer"
	"github.com/netmatrix/netmatrix/core/transport"
)

// curves is one key exchange for everybody, so that no runtime is measured with
// another's. It matters to handshakes only.
var curves = []tls.CurveID{tls.X25519}

func serverTLS(s control.Setup) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(s.Cert, s.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the server: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, CurvePreferences: curves}, nil
}

func clientTLS(s control.Setup) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.CA) {
		return nil, errors.New("no certificate authority to verify the server with")
	}
	return &tls.Config{RootCAs: roots, ServerName: control.ServerName, CurvePreferences: curves}, nil
}

// secure puts TLS around sessions, in place.
func (d *loader) secure(sessions []transport.Session) error {
	cfg, err := clientTLS(d.setup)
	if err != nil {
		return err
	}
	for i, s := range sessions {
		secured := tlslayer.Client(s, cfg)
		d.secured = append(d.secured, secured)
		sessions[i] = secured
	}
	return nil
}

// agreeOnTLS notes what was negotiated and refuses to compare targets that
// negotiated different things. Every session has had its first exchange.
func (d *loader) agreeOnTLS() error {
	for i, s := range d.secured {
		got := tlslayer.Describe(s.State())
		if i == 0 {
			d.negotiated = got
		}
		if got != d.negotiated {
			return fmt.Errorf("TLS differs between connections: %s and %s", d.negotiated, got)
		}
	}
	return nil
}
