package wire

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // RFC 6455 prescribes it
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

func handshakeOf(t testing.TB, subprotocols string) Handshake {
	t.Helper()
	target, err := url.Parse("ws://127.0.0.1:8080/ws?a=b")
	if err != nil {
		t.Fatal(err)
	}
	return NewHandshake(target, subprotocols, nil)
}

// answer returns what a correct server sends, with some of its header lines replaced.
func (h Handshake) answer(replaced map[string]string) []byte {
	digest := sha1.Sum([]byte(h.key + acceptGUID)) //nolint:gosec // RFC 6455 prescribes it
	header := map[string]string{
		"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": base64.StdEncoding.EncodeToString(digest[:]),
	}
	for name, value := range replaced {
		header[name] = value
	}
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	for name, value := range header {
		if value != "" {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func TestTheRequestAsksForWhatRFC6455Prescribes(t *testing.T) {
	request := string(handshakeOf(t, "v12.stomp").Request)
	for _, line := range []string{
		"GET /ws?a=b HTTP/1.1\r\n", "Host: 127.0.0.1:8080\r\n", "Upgrade: websocket\r\n", "Connection: Upgrade\r\n",
		"Sec-Websocket-Version: 13\r\n", "Sec-Websocket-Protocol: v12.stomp\r\n",
	} {
		if !strings.Contains(strings.ToLower(request), strings.ToLower(line)) {
			t.Errorf("%q lacks %q", request, line)
		}
	}
	if !strings.HasSuffix(request, "\r\n\r\n") || strings.Contains(request, "Extensions") {
		t.Errorf("%q", request)
	}
}

func TestAnAnswerThatIsSplitAnywhereIsReadWhenItIsWhole(t *testing.T) {
	h := handshakeOf(t, "")
	answer := append(h.answer(nil), 0x81, 0x00) // followed by the first frame
	for n := range answer {
		size, err := h.Answer(answer[:n])
		if want := len(answer) - 2; err != nil || size != 0 && (size != want || n < want) || n >= want && size != want {
			t.Fatalf("%d bytes: size %d, %v", n, size, err)
		}
	}
}

func TestAnAnswerThatAClientMustRefuseIsRefused(t *testing.T) {
	for said, replaced := range map[string]map[string]string{
		"Upgrade is not websocket":         {"Upgrade": "h2c"},
		"Connection is not Upgrade":        {"Connection": "keep-alive"},
		"wrong Sec-WebSocket-Accept":       {"Sec-WebSocket-Accept": "AAAA"},
		"an extension that nobody":         {"Sec-WebSocket-Extensions": "permessage-deflate"},
		"a subprotocol that nobody":        {"Sec-WebSocket-Protocol": "v10.stomp"},
		"opening handshake: malformed MIM": {"Upgrade": "websocket\r\nno header"},
	} {
		h := handshakeOf(t, "v12.stomp")
		if _, err := h.Answer(h.answer(replaced)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v: %v, expected %q", replaced, err, said)
		}
	}
	for said, answer := range map[string]string{
		"HTTP 503":           "HTTP/1.1 503 Service Unavailable\r\n\r\n",
		"HTTP 200":           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"malformed HTTP":     "SSH-2.0-OpenSSH_9.6\r\n\r\n",
		"longer than 16384 ": "HTTP/1.1 101 " + strings.Repeat("x", answerLimit),
	} {
		if _, err := handshakeOf(t, "").Answer([]byte(answer)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%.30q: %v, expected %q", answer, err, said)
		}
	}
}

func TestAnAnswerMayUseOtherCasesAndListSeveralTokens(t *testing.T) {
	h := handshakeOf(t, "v11.stomp, v12.stomp")
	answer := h.answer(map[string]string{
		"Upgrade": "WebSocket", "Connection": "keep-alive, upgrade", "Sec-WebSocket-Protocol": "v12.stomp",
	})
	if size, err := h.Answer(answer); err != nil || size != len(answer) {
		t.Errorf("size %d of %d, %v", size, len(answer), err)
	}
}

// FuzzAnswer checks that no answer crashes the reader, and that a size is never beyond the data.
func FuzzAnswer(f *testing.F) {
	h := handshakeOf(f, "v12.stomp")
	f.Add(h.answer(nil))
	f.Add([]byte("HTTP/1.1 503 \r\n\r\n"))
	f.Add([]byte("HTTP/1.1 101 \r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if size, _ := h.Answer(data); size < 0 || size > len(data) {
			t.Errorf("size %d of %d", size, len(data))
		}
	})
}
