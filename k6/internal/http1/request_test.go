package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestRequestsAreWrittenAsRFC9112Says(t *testing.T) {
	for want, request := range map[string]Request{
		"GET /stream?n=1 HTTP/1.1\r\nHost: localhost:8080\r\nAccept: text/event-stream\r\nLast-Event-ID: 7\r\n\r\n": {
			Method: "GET", Target: "/stream?n=1", Host: "localhost:8080",
			Fields: []Field{{"Accept", "text/event-stream"}, {"Last-Event-ID", "7"}},
		},
		"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello": {
			Method: "POST", Target: "/post", Host: "a", Body: []byte("hello"),
		},
		"PUT /post HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n": {Method: "PUT", Target: "/post", Host: "a"},
		"QUERY / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nq": {
			Method: "QUERY", Target: "/", Host: "a", Body: []byte("q"),
		},
		"DELETE / HTTP/1.1\r\nHost: a\r\nEmpty: \r\n\r\n": {
			Method: "DELETE", Target: "/", Host: "a", Fields: []Field{{"Empty", ""}},
		},
	} {
		got, err := request.Append([]byte("before "))
		if err != nil || string(got) != "before "+want {
			t.Errorf("%q, %v, expected %q", got, err, want)
		}
	}
}

func TestRequestsThatWouldBeReadOtherwiseAreRefused(t *testing.T) {
	good := Request{Method: "GET", Target: "/", Host: "a", Fields: []Field{{"A", "b"}}}
	for name, c := range map[string]struct {
		change func(*Request)
		want   error
	}{
		"no method":             {func(q *Request) { q.Method = "" }, ErrMethod},
		"a method with a space": {func(q *Request) { q.Method = "GET / HTTP/1.1\r\n\r\nGET" }, ErrMethod},
		"no target":             {func(q *Request) { q.Target = "" }, ErrTarget},
		"a target with a space": {func(q *Request) { q.Target = "/a b" }, ErrTarget},
		"a target with an LF":   {func(q *Request) { q.Target = "/\nA:b" }, ErrTarget},
		"a target in UTF-8":     {func(q *Request) { q.Target = "/ä" }, ErrTarget},
		"no host":               {func(q *Request) { q.Host = "" }, ErrTarget},
		"a host with CR LF":     {func(q *Request) { q.Host = "a\r\nB: c" }, ErrTarget},
		"no name":               {func(q *Request) { q.Fields[0].Name = "" }, ErrRequestField},
		"a name with a colon":   {func(q *Request) { q.Fields[0].Name = "A:b" }, ErrRequestField},
		"a name with an LF":     {func(q *Request) { q.Fields[0].Name = "A\nB" }, ErrRequestField},
		"a value with an LF":    {func(q *Request) { q.Fields[0].Value = "b\nC: d" }, ErrRequestField},
		"a value with a CR":     {func(q *Request) { q.Fields[0].Value = "b\rC: d" }, ErrRequestField},
		"a value with a NUL":    {func(q *Request) { q.Fields[0].Value = "\x00" }, ErrRequestField},
		"a second host":         {func(q *Request) { q.Fields[0].Name = "HOST" }, ErrFraming},
		"a second length":       {func(q *Request) { q.Fields[0] = Field{"content-length", "3"} }, ErrFraming},
		"a coding":              {func(q *Request) { q.Fields[0] = Field{"Transfer-Encoding", "chunked"} }, ErrFraming},
		"an upgrade":            {func(q *Request) { q.Fields[0] = Field{"Upgrade", "h2c"} }, ErrFraming},
	} {
		request := good
		request.Fields = slices.Clone(good.Fields)
		c.change(&request)
		if got, err := request.Append([]byte("before")); !errors.Is(err, c.want) || string(got) != "before" {
			t.Errorf("%s: %q, %v, expected %v", name, got, err, c.want)
		}
	}
}

func TestRequestsAreWrittenWithoutAllocation(t *testing.T) {
	buffer := make([]byte, 0, 512)
	body, fields := []byte(`{"title":"a"}`), []Field{{"Content-Type", "application/json"}}
	allocations := testing.AllocsPerRun(100, func() {
		request := Request{Method: "POST", Target: "/post", Host: "127.0.0.1:8080", Fields: fields, Body: body}
		if _, err := request.Append(buffer[:0]); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// FuzzRequest checks that net/http reads every written request as intended, and nothing after it.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/stream", "localhost:8080", "Accept", "text/event-stream", []byte(nil))
	f.Add("POST", "/post?a=b", "[::1]:80", "Content-Type", "application/json", []byte(`{"title": "a"}`))
	f.Add("DELETE", "*", "a", "A", "b\r\n\r\nGET / HTTP/1.1", []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, method, target, host, name, value string, body []byte) {
		fields := []Field{{name, value}, {"X-Last", "1"}}
		request := Request{Method: method, Target: target, Host: host, Fields: fields, Body: body}
		written, err := request.Append(nil)
		if err != nil {
			return
		}
		if lines := bytes.Count(written[:len(written)-len(body)], []byte("\n")); lines != 5 && lines != 6 {
			t.Fatalf("%q has %d lines", written, lines)
		}
		reader := bufio.NewReader(bytes.NewReader(written))
		read, err := http.ReadRequest(reader)
		if err != nil { // an invalid target or host
			return
		}
		got, err := io.ReadAll(read.Body)
		if err != nil || !bytes.Equal(got, body) || reader.Buffered() > 0 {
			t.Errorf("%q: body %q, %v, then %d bytes", written, got, err, reader.Buffered())
		}
		values := read.Header.Values(name)
		if read.Method != method || read.RequestURI != target || read.Header.Get("X-Last") != "1" ||
			!slices.Contains(values, strings.Trim(value, " \t")) {
			t.Errorf("%q: %s %s, %q", written, read.Method, read.RequestURI, read.Header)
		}
	})
}
