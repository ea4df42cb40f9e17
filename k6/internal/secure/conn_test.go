package secure

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/certify"
)

// dial connects to an echoing server of this TLS version, whose authority is trusted.
func dial(t *testing.T, version uint16) (*Conn, net.Conn) {
	t.Helper()
	certificate, authority, err := certify.Loopback()
	authorities := filepath.Join(t.TempDir(), "authority.pem")
	if err = errors.Join(err, os.WriteFile(authorities, authority, 0o600)); err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: version, MaxVersion: version,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	config, err := Config("127.0.0.1", authorities)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	_ = socket.SetDeadline(time.Now().Add(10 * time.Second))
	return New(config), socket
}

// pump sends what has to be sent, and passes some received bytes to the connection.
func pump(t *testing.T, c *Conn, socket net.Conn, most int) {
	t.Helper()
	if out := c.Sent(nil); len(out) > 0 {
		if _, err := socket.Write(out); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, most)
	n, err := socket.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	c.Received(buf[:n])
}

func shake(t *testing.T, c *Conn, socket net.Conn, most int) {
	t.Helper()
	for {
		done, err := c.Shake()
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return
		}
		pump(t, c, socket, most)
	}
}

func TestBytesArriveInPiecesOfAnySize(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		for _, most := range []int{1, 7, 1 << 16} {
			t.Run(name, func(t *testing.T) {
				c, socket := dial(t, version)
				shake(t, c, socket, most)
				said := bytes.Repeat([]byte("0123456789abcdef"), 3000) // three records
				if err := c.Write(said); err != nil {
					t.Fatal(err)
				}
				var heard []byte
				buf := make([]byte, 1000)
				for len(heard) < len(said) {
					n, err := c.Read(buf)
					heard = append(heard, buf[:n]...)
					if errors.Is(err, ErrMore) {
						pump(t, c, socket, most)
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(heard, said) {
					t.Error("other bytes came back")
				}
				if _, err := c.Read(buf); !errors.Is(err, ErrMore) {
					t.Errorf("%v, expected that more is needed", err)
				}
			})
		}
	}
}

func TestAHandshakeThatNobodyContinuesLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	var begun []*Conn
	for range 100 {
		c := New(&tls.Config{ServerName: "h", MinVersion: tls.VersionTLS12})
		if done, err := c.Shake(); done || err != nil {
			t.Fatal(done, err)
		}
		begun = append(begun, c)
	}
	if now := runtime.NumGoroutine(); now < len(begun) { // some earlier ones may have ended since
		t.Fatalf("%d goroutines for %d handshakes: nothing waits", now, len(begun))
	}
	for _, c := range begun {
		c.End()
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines, %d before", now, before)
	}
}

func TestAFileWithoutCertificatesIsRefused(t *testing.T) {
	if _, err := Config("h", filepath.Join(t.TempDir(), "none.pem")); err == nil {
		t.Error("a missing file is accepted")
	}
	if _, err := Config("h", "conn_test.go"); err == nil || !strings.Contains(err.Error(), "has none") {
		t.Errorf("%v", err)
	}
}
