package wire

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 prescribes it
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// acceptGUID is fixed by RFC 6455, section 1.3.
const acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// answerLimit is the largest answer to an opening handshake, in bytes. Many servers accept as much for the head of a
// request.
const answerLimit = 16 << 10

// Handshake is the client's side of one opening handshake of RFC 6455, section 4.1.
type Handshake struct {
	// Request is what the client sends.
	Request []byte

	key          string
	subprotocols []string
}

// NewHandshake makes the handshake for a ws:// URL; subprotocols is a comma-separated list, empty for none. Further
// header fields must not be those of the handshake itself.
func NewHandshake(target *url.URL, subprotocols string, further http.Header) Handshake {
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails
	h := Handshake{key: base64.StdEncoding.EncodeToString(nonce)}
	header := http.Header{
		"Connection":            {"Upgrade"},
		"Upgrade":               {"websocket"},
		"Sec-WebSocket-Version": {"13"},
		"Sec-WebSocket-Key":     {h.key},
	}
	maps.Copy(header, further)
	if subprotocols != "" {
		header.Set("Sec-WebSocket-Protocol", subprotocols)
		h.subprotocols = tokens(subprotocols)
	}
	var request bytes.Buffer
	_ = (&http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: header}).Write(&request)
	h.Request = request.Bytes()
	return h
}

// Answer reads the server's answer at the start of data and returns its size; 0 means that more data is needed. Frames
// follow the answer. An error says why the connection must be failed.
func (h Handshake) Answer(data []byte) (size int, err error) {
	end := bytes.Index(data, []byte("\r\n\r\n"))
	if end < 0 {
		if len(data) > answerLimit {
			return 0, fmt.Errorf("opening handshake: the answer is longer than %d bytes", answerLimit)
		}
		return 0, nil
	}
	size = end + len("\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data[:size])), nil)
	if err != nil {
		return 0, fmt.Errorf("opening handshake: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		return 0, fmt.Errorf("opening handshake: HTTP %d", response.StatusCode)
	}
	return size, h.check(response.Header)
}

// check validates the header of an answer with status 101 against steps 2 to 6 of RFC 6455, section 4.1.
func (h Handshake) check(header http.Header) error {
	digest := sha1.Sum([]byte(h.key + acceptGUID)) //nolint:gosec // RFC 6455 prescribes it
	protocol := header.Get("Sec-WebSocket-Protocol")
	switch {
	case !strings.EqualFold(header.Get("Upgrade"), "websocket"):
		return fmt.Errorf("opening handshake: Upgrade is not websocket")
	case !slices.ContainsFunc(tokens(strings.Join(header.Values("Connection"), ",")), isUpgrade):
		return fmt.Errorf("opening handshake: Connection is not Upgrade")
	case strings.TrimSpace(header.Get("Sec-WebSocket-Accept")) != base64.StdEncoding.EncodeToString(digest[:]):
		return fmt.Errorf("opening handshake: wrong Sec-WebSocket-Accept")
	case header.Get("Sec-WebSocket-Extensions") != "":
		return fmt.Errorf("opening handshake: an extension that nobody asked for")
	case protocol != "" && !slices.Contains(h.subprotocols, protocol):
		return fmt.Errorf("opening handshake: a subprotocol that nobody asked for")
	}
	return nil
}

func isUpgrade(token string) bool { return strings.EqualFold(token, "upgrade") }

// tokens splits a comma-separated list.
func tokens(list string) []string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
