package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

const maxBodyBytes = 64 * 1024

// How long a client may take to send the header of a request.
const headerTimeout = 10 * time.Second

// How long a connection is kept for the next request.
const idleTimeout = 60 * time.Second

// How long requests may take to end. SIGTERM has to end the process within 5 s.
const stopTimeout = 3 * time.Second

const allowedMethods = "GET, HEAD"

// server answers requests and counts the streams. stream handles the pace of a stream.
type server struct {
	http   http.Server
	routes map[string]http.HandlerFunc
	active atomic.Int64
}

func newServer() *server {
	s := &server{}
	s.routes = map[string]http.HandlerFunc{
		"/healthz": respondHealth,
		"/metricz": s.respondMetrics,
		"/stream":  s.respondStream,
	}
	// Each request's context is a child of this one, so a stream ends when its client leaves or the server stops.
	serving, endStreams := context.WithCancel(context.Background())
	s.http.BaseContext = func(net.Listener) context.Context { return serving }
	s.http.RegisterOnShutdown(endStreams)
	s.http.Handler = http.HandlerFunc(s.respond)
	s.http.ReadHeaderTimeout, s.http.IdleTimeout = headerTimeout, idleTimeout
	return s
}

// serve returns when the server is stopped, or with an error.
func (s *server) serve(listener net.Listener) error {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stop returns when every request has ended, which takes no longer than stopTimeout.
func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
}

func (s *server) respond(response http.ResponseWriter, request *http.Request) {
	if tooLarge, err := readBody(response, request); tooLarge {
		// Otherwise net/http would read more of the body before it answers.
		response.Header().Set("Connection", "close")
		reason := fmt.Sprintf("a body must have at most %d bytes", maxBodyBytes)
		refuse(response, http.StatusRequestEntityTooLarge, reason)
		return
	} else if err != nil {
		refuse(response, http.StatusBadRequest, "the body cannot be read")
		return
	}
	handle := s.routes[request.URL.Path]
	switch {
	case handle == nil:
		refuse(response, http.StatusNotFound, http.StatusText(http.StatusNotFound))
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		response.Header().Set("Allow", allowedMethods)
		refuse(response, http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed))
	default:
		handle(response, request)
	}
}

// readBody discards a body, but does not read one whose declared length is too large.
func readBody(response http.ResponseWriter, request *http.Request) (tooLarge bool, err error) {
	if request.ContentLength > maxBodyBytes {
		return true, nil
	}
	_, err = io.Copy(io.Discard, http.MaxBytesReader(response, request.Body, maxBodyBytes))
	return errors.As(err, new(*http.MaxBytesError)), err
}

func (s *server) respondStream(response http.ResponseWriter, request *http.Request) {
	wanted, err := parseRequest(request)
	if err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	s.active.Add(1)
	defer s.active.Add(-1)
	response.Header().Set("Content-Type", "text/event-stream")
	response.Header().Set("Cache-Control", "no-cache")
	wanted.send(request.Context(), response)
}

func (s *server) respondMetrics(response http.ResponseWriter, _ *http.Request) {
	respondJSON(response, http.StatusOK, map[string]int64{"active_streams": s.active.Load()})
}

func respondHealth(response http.ResponseWriter, _ *http.Request) {
	version := strings.TrimPrefix(runtime.Version(), "go")
	respondJSON(response, http.StatusOK, map[string]string{
		"server":    "go-sse",
		"runtime":   "Go " + version,
		"framework": "net/http " + version,
	})
}

func refuse(response http.ResponseWriter, status int, reason string) {
	respondJSON(response, status, map[string]string{"error": reason})
}

func respondJSON(response http.ResponseWriter, status int, body any) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	_ = json.NewEncoder(response).Encode(body)
}
