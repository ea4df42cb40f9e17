package secure

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Config makes the settings for connections to a host, whose certificate is always verified. With a file of
// authorities, in PEM, only these are trusted; without one, those of the system.
func Config(host, authorities string) (*tls.Config, error) {
	// Browsers offer http/1.1 alone for a WebSocket, and h2 has none of our protocols.
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if authorities == "" {
		return config, nil
	}
	text, err := os.ReadFile(authorities)
	if err != nil {
		return nil, fmt.Errorf("certificates of authorities: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificates of authorities: %s has none", authorities)
	}
	return config, nil
}
