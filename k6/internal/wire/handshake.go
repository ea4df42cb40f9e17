package wire

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 prescribes it
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// acceptGUID is fixed by RFC 6455, section 1.3.
const acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// Dial connects to a ws:// URL and completes the opening handshake, optionally with subprotocols. It returns the
// connection and whatever the server sent behind its answer.
func Dial(ctx context.Context, target *url.URL, subprotocols string) (*net.TCPConn, []byte, error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, nil, err
	}
	conn := raw.(*net.TCPConn)
	rest, err := handshake(ctx, conn, target, subprotocols)
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	return conn, rest, nil
}

func handshake(ctx context.Context, conn *net.TCPConn, target *url.URL, subprotocols string) ([]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
		defer func() { _ = conn.SetDeadline(time.Time{}) }()
	}
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails
	key := base64.StdEncoding.EncodeToString(nonce)
	request := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: http.Header{
		"Connection":            {"Upgrade"},
		"Upgrade":               {"websocket"},
		"Sec-WebSocket-Version": {"13"},
		"Sec-WebSocket-Key":     {key},
	}}
	if subprotocols != "" {
		request.Header.Set("Sec-WebSocket-Protocol", subprotocols)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReaderSize(conn, 1024)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, fmt.Errorf("opening handshake: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("opening handshake: HTTP %d", response.StatusCode)
	}
	digest := sha1.Sum([]byte(key + acceptGUID)) //nolint:gosec // RFC 6455 prescribes it
	if response.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(digest[:]) {
		return nil, fmt.Errorf("opening handshake: wrong Sec-WebSocket-Accept")
	}
	rest, _ := reader.Peek(reader.Buffered())
	return rest, nil
}
