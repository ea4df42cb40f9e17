package http1

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// serve answers as servers on net/http do: each path with another framing.
func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/hints":
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "hints")
	case "/chunks":
		w.Header().Set("Trailer", "X-Sum")
		for _, text := range []string{"one", ", two"} {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-Sum", "2")
	case "/echo":
		_, _ = io.Copy(w, r.Body)
	case "/last":
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "last")
	default:
		http.NotFound(w, r)
	}
}

func TestAServerOnNetHTTPIsUnderstood(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	requests := []Request{
		{Method: "GET", Target: "/none"}, {Method: "HEAD", Target: "/hints"}, {Method: "GET", Target: "/hints"},
		{Method: "GET", Target: "/chunks", Fields: []Field{{"TE", "trailers"}}},
		{Method: "PUT", Target: "/echo", Body: []byte("echo")},
		{Method: "GET", Target: "/absent"}, {Method: "GET", Target: "/last"},
	}
	var pipelined []byte
	for i := range requests {
		requests[i].Host = "a"
		if pipelined, err = requests[i].Append(pipelined); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write(pipelined); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	want := []response{
		{204, "", true, true}, {200, "", true, true}, {200, "hints", true, true}, {200, "one, two", true, true},
		{200, "echo", true, true}, {404, "404 page not found\n", true, true}, {200, "last", false, true},
	}
	for i, c := range []cut{whole, bytewise, randomly(1)} {
		if got := feed(t, string(answers), 1<<1, c); got.err != nil || !slices.Equal(got.responses, want) {
			t.Errorf("cut %d: %+v, expected %+v", i, got, want)
		}
	}
}
