package scripted

import (
	"crypto/tls"
	"os"

	"github.com/pushbench/pushbench/k6/internal/certify"
)

// Secure also listens with TLS, on another port of 127.0.0.1. It writes the certificate of the authority that clients
// have to trust to a file, and returns the URL.
func (s *Server) Secure(authorities string) (url string, err error) {
	certificate, authority, err := certify.Loopback()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(authorities, authority, 0o600); err != nil {
		return "", err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return "", err
	}
	go func() { _ = s.http.Serve(listener) }()
	return "wss://" + listener.Addr().String(), nil
}
