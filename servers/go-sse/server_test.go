package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// startServer starts a server and returns its URL and the server. The server stops at the end of the test.
func startServer(t *testing.T) (string, *server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer()
	go func() { _ = server.serve(listener) }()
	t.Cleanup(server.stop)
	return "http://" + listener.Addr().String(), server
}

// get requests a stream, with this header of the request.
func get(t *testing.T, url string, header http.Header) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func body(t *testing.T, response *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func eventsFrom(first int) string {
	var events strings.Builder
	for number, character := range []rune(textFile)[first:] {
		fmt.Fprintf(&events, "id: %d\ndata: %c\n\n", first+number, character)
	}
	return events.String()
}

func TestEachCharacterIsAnEvent(t *testing.T) {
	url, _ := startServer(t)
	for _, path := range []string{"/stream", "/stream?pace=1000"} {
		if got := body(t, get(t, url+path, nil)); got != eventsFrom(0) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestAStreamResumesAfterTheLastEvent(t *testing.T) {
	url, _ := startServer(t)
	for _, last := range []int{0, 17, len(text) - 1} {
		response := get(t, url+"/stream", http.Header{"Last-Event-Id": {fmt.Sprint(last)}})
		if got := body(t, response); got != eventsFrom(last+1) {
			t.Errorf("after %d: %q", last, got)
		}
	}
}

func TestWhatIsNoIntegerInRangeIsRefused(t *testing.T) {
	url, _ := startServer(t)
	queries := []string{"pace=", "pace", "pace=0", "pace=1001", "pace=1.5", "pace=%2B5", "pace=05", "pace=1&pace=1"}
	for _, query := range queries {
		if got := get(t, url+"/stream?"+query, nil).StatusCode; got != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got)
		}
	}
	for _, id := range []string{"", "-1", fmt.Sprint(len(text)), "1.0", "a", "007"} {
		response := get(t, url+"/stream", http.Header{"Last-Event-Id": {id}})
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("Last-Event-ID: %q: %d", id, response.StatusCode)
		}
	}
}

func TestAStreamEndsWhenItsClientLeaves(t *testing.T) {
	url, server := startServer(t)
	response := get(t, url+"/stream?pace=1", nil)
	if got := server.active.Load(); got != 1 {
		t.Fatalf("%d active streams", got)
	}
	_ = response.Body.Close()
	for left := time.Now(); server.active.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Since(left) > 500*time.Millisecond {
			t.Fatal("still active")
		}
	}
}

func TestStreamsEndProperlyWhenTheServerStops(t *testing.T) {
	url, server := startServer(t)
	events := bufio.NewReader(get(t, url+"/stream?pace=1", nil).Body)
	if line, err := events.ReadString('\n'); err != nil || line != "id: 0\n" {
		t.Fatal(line, err)
	}
	server.stop()
	// A truncated stream would give io.ErrUnexpectedEOF.
	if _, err := io.Copy(io.Discard, events); err != nil {
		t.Fatal(err)
	}
}
