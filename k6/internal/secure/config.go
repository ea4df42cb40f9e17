package secure

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Config returns the settings for connections to a host, whose certificate is always verified. With a PEM file of
// authorities, only these are trusted; without one, the system's are.
func Config(host, authorities string) (*tls.Config, error) {
	// Browsers offer only http/1.1 for a WebSocket, and none of our protocols uses h2.
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
