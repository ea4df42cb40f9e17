package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

const (
	header = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	token  = "id:17\ndata:ż\n\n"
)

// chunk returns one chunk of a chunked body.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// count reads the pieces as they arrive from a connection, and counts the events.
func count(tb testing.TB, response *http1.Reader, events *Reader, pieces ...[]byte) (found int) {
	for _, rest := range pieces {
		for {
			event, n, err := response.Next(rest)
			if err != nil {
				tb.Fatal(err)
			}
			if rest = rest[n:]; event.Kind == http1.Nothing {
				break
			}
			if event.Kind != http1.Body {
				continue
			}
			for body := event.Data; ; {
				_, n, ok, err := events.Next(body)
				if err != nil {
					tb.Fatal(err)
				}
				if !ok {
					break
				}
				found++
				body = body[n:]
			}
		}
	}
	return found
}

func TestEventsInChunksAreReadHoweverTheyAreCut(t *testing.T) {
	text := header + chunk(token) + chunk("id:18\nda") + chunk("ta:b\n") + chunk("\n") + chunk(token+token) + "0\r\n\r\n"
	for i := range len(text) + 1 {
		var response http1.Reader
		var events Reader
		if found := count(t, &response, &events, []byte(text[:i]), []byte(text[i:])); found != 4 {
			t.Errorf("cut at %d: %d events", i, found)
		}
		if string(events.LastID()) != "17" {
			t.Errorf("cut at %d: the last id is %q", i, events.LastID())
		}
	}
}

// streams are how servers send one token.
var streams = map[string][]string{
	"one chunk":         {chunk(token)},
	"a chunk per field": {chunk("id:17\n") + chunk("data:") + chunk("ż") + chunk("\n\n")},
	"two reads":         {chunk(token)[:10], chunk(token)[10:]},
}

func BenchmarkReader(b *testing.B) {
	for name, texts := range streams {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var pieces [][]byte
			for _, text := range texts {
				pieces = append(pieces, []byte(text))
			}
			var response http1.Reader
			var events Reader
			count(b, &response, &events, []byte(header))
			for b.Loop() {
				if count(b, &response, &events, pieces...) != 1 {
					b.Fatal("expected one event")
				}
			}
		})
	}
}

// BenchmarkEvents reads events without HTTP.
func BenchmarkEvents(b *testing.B) {
	b.ReportAllocs()
	var r Reader
	data := []byte(token)
	for b.Loop() {
		if _, n, found, err := r.Next(data); !found || err != nil || n != len(data) {
			b.Fatal(n, found, err)
		}
	}
}

// endless returns the header, and then the same text again and again.
type endless struct {
	header, text string
	at           int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.header != "" {
		n := copy(p, e.header)
		e.header = e.header[n:]
		return n, nil
	}
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// BenchmarkNetHTTP reads the lines of events as clients without an event reader do, and copies nothing.
func BenchmarkNetHTTP(b *testing.B) {
	for name, texts := range streams {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			source := &endless{header: header, text: strings.Repeat(strings.Join(texts, ""), 1000)}
			response, err := http.ReadResponse(bufio.NewReaderSize(source, 64<<10), nil)
			if err != nil {
				b.Fatal(err)
			}
			lines := bufio.NewReader(response.Body)
			for b.Loop() {
				for {
					line, err := lines.ReadSlice('\n')
					if err != nil && err != io.EOF {
						b.Fatal(err)
					}
					if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
						break
					}
					_, _, _ = bytes.Cut(line, []byte(":"))
				}
			}
		})
	}
}
