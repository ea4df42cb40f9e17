package http1

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

const row = `{"no":17,"title":"a title","content":"a text"}`

// small are the answers of a server on Spring Boot and of one on Node.js to a request for a row.
var small = map[string]string{
	"length": "HTTP/1.1 200 \r\nContent-Type: application/json\r\nContent-Length: 46\r\n" +
		"Date: Sun, 22 Nov 2026 07:08:46 GMT\r\nKeep-Alive: timeout=60\r\nConnection: keep-alive\r\n\r\n" + row,
	"chunked": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 22 Nov 2026 07:08:46 GMT\r\n" +
		"Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n2e\r\n" + row + "\r\n0\r\n\r\n",
}

func BenchmarkReader(b *testing.B) {
	for name, text := range small {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			data := []byte(text)
			var r Reader
			for b.Loop() {
				for rest := data; ; {
					event, n, err := r.Next(rest)
					if err != nil {
						b.Fatal(err)
					}
					if rest = rest[n:]; event.Kind == Nothing {
						break
					}
				}
			}
		})
	}
}

// endless returns the same text again and again.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

func BenchmarkNetHTTP(b *testing.B) {
	for name, text := range small {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			reader := bufio.NewReaderSize(&endless{text: strings.Repeat(text, 1000)}, 64<<10)
			for b.Loop() {
				found, err := http.ReadResponse(reader, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, found.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	buffer, body := make([]byte, 0, 1024), []byte(`{"title":"a title","content":"a text"}`)
	fields := []Field{{"Content-Type", "application/json"}, {"Accept", "application/json"}}
	for b.Loop() {
		request := Request{Method: "POST", Target: "/post", Host: "127.0.0.1:8080", Fields: fields, Body: body}
		if _, err := request.Append(buffer[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
