package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gobwas/ws"
)

const maxBodyBytes = 64 * 1024

// How long a client may take to send the header of a request.
const headerTimeout = 10 * time.Second

// How long a connection is kept for the next request.
const idleTimeout = 60 * time.Second

// How long requests may take to end. SIGTERM has to end the process within 5 s.
const stopTimeout = 3 * time.Second

// server answers requests, and ends what is open when it stops.
type server struct {
	http   http.Server
	groups groups
	ended  context.Context // once the server stops

	mu       sync.Mutex
	sockets  map[*socket]struct{}
	stopping bool
	serving  sync.WaitGroup
}

func newServer() *server {
	s := &server{groups: groups{byName: make(map[string]*group)}, sockets: make(map[*socket]struct{})}
	// Each request's context is a child of this one, so streams and held polls end when their clients leave or the
	// server stops.
	serving, end := context.WithCancel(context.Background())
	s.ended = serving
	s.http.BaseContext = func(net.Listener) context.Context { return serving }
	s.http.RegisterOnShutdown(end)
	s.http.Handler = http.HandlerFunc(s.respond)
	s.http.ReadHeaderTimeout, s.http.IdleTimeout = headerTimeout, idleTimeout
	return s
}

// serve returns when the server is stopped, or with an error.
func (s *server) serve(listener net.Listener) error {
	go s.sweep()
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *server) sweep() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			s.groups.sweep(now)
		case <-s.ended.Done():
			return
		}
	}
}

// stop returns when every client is gone, which takes no longer than stopTimeout and closeTimeout.
func (s *server) stop() {
	s.mu.Lock()
	s.stopping = true
	for client := range s.sockets {
		client.close(ws.StatusGoingAway)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	s.serving.Wait()
}

// place is the group and the user of a request.
type place struct{ group, user string }

func (s *server) respond(response http.ResponseWriter, request *http.Request) {
	body, err := readBody(response, request)
	if errors.As(err, new(*http.MaxBytesError)) {
		// Otherwise net/http would read more of the body before it answers.
		response.Header().Set("Connection", "close")
		refuse(response, http.StatusRequestEntityTooLarge, err.Error())
		return
	} else if err != nil {
		refuse(response, http.StatusBadRequest, "the body cannot be read")
		return
	}
	parts := strings.Split(request.URL.Path, "/")[1:]
	inGroup := parts[0] == "groups" && len(parts) > 2
	switch what := parts[min(2, len(parts)-1)]; {
	case len(parts) == 1 && parts[0] == "healthz":
		if allowed(response, request, http.MethodGet, http.MethodHead) {
			respondJSON(response, http.StatusOK, health)
		}
	case len(parts) == 1 && parts[0] == "metricz":
		if allowed(response, request, http.MethodGet, http.MethodHead) {
			groups, listeners := s.groups.count()
			respondJSON(response, http.StatusOK, map[string]int{"groups": groups, "listeners": listeners})
		}
	case inGroup && len(parts) == 4 && what == "positions":
		if allowed(response, request, http.MethodPut) {
			s.respondPut(response, request, place{parts[1], parts[3]}, body)
		}
	case inGroup && len(parts) == 3 && what == "positions":
		s.respondTo(response, request, parts[1], s.respondPoll)
	case inGroup && len(parts) == 3 && what == "events":
		s.respondTo(response, request, parts[1], s.respondEvents)
	case inGroup && len(parts) == 3 && what == "socket":
		s.respondTo(response, request, parts[1], s.upgrade)
	default:
		refuse(response, http.StatusNotFound, http.StatusText(http.StatusNotFound))
	}
}

// readBody reads a body, unless its declared length is too large.
func readBody(response http.ResponseWriter, request *http.Request) ([]byte, error) {
	if request.ContentLength > maxBodyBytes {
		return nil, &http.MaxBytesError{Limit: maxBodyBytes}
	}
	return io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
}

func allowed(response http.ResponseWriter, request *http.Request, methods ...string) bool {
	for _, each := range methods {
		if request.Method == each {
			return true
		}
	}
	response.Header().Set("Allow", strings.Join(methods, ", "))
	refuse(response, http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed))
	return false
}

// respondTo responds to a user who wants news of a group.
func (s *server) respondTo(
	response http.ResponseWriter, request *http.Request, group string,
	respond func(http.ResponseWriter, *http.Request, place),
) {
	if !allowed(response, request, http.MethodGet) {
		return
	}
	query, err := url.ParseQuery(request.URL.RawQuery)
	users := query["user"]
	if err != nil || len(users) != 1 || !isID(users[0]) || !isID(group) {
		refuse(response, http.StatusBadRequest, badID)
		return
	}
	respond(response, request, place{group, users[0]})
}

var badID = fmt.Sprintf("group and user must have 1 to %d characters of A-Z a-z 0-9 - _", maxIDCharacters)

func (s *server) respondPut(response http.ResponseWriter, request *http.Request, at place, body []byte) {
	kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		refuse(response, http.StatusUnsupportedMediaType, "a position must be application/json")
		return
	}
	if !isID(at.group) || !isID(at.user) {
		refuse(response, http.StatusBadRequest, badID)
		return
	}
	position, err := parsePosition(at.user, body)
	if err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	if err := s.put(at, position); err != nil {
		refuse(response, http.StatusConflict, err.Error())
		return
	}
	response.WriteHeader(http.StatusNoContent)
}

func (s *server) put(at place, position []byte) (err error) {
	s.groups.with(at.group, func(g *group) { err = g.put(at.user, position) })
	return err
}

func (s *server) upgrade(response http.ResponseWriter, request *http.Request, at place) {
	conn, buffered, _, err := ws.UpgradeHTTP(request, response)
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return
	}
	client := newSocket(conn, buffered.Reader, at.user, func(position []byte) error { return s.put(at, position) })
	if !s.add(client) {
		_ = conn.Close()
		return
	}
	s.groups.with(at.group, func(g *group) {
		client.tell(g.since(at.user, 0))
		g.listen(client, at.user)
	})
	// In a goroutine of its own, so that net/http can release the request.
	go func() {
		defer s.remove(client)
		client.serve()
		s.groups.with(at.group, func(g *group) { g.leave(client) })
	}()
}

func (s *server) add(client *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.sockets[client] = struct{}{}
	s.serving.Add(1)
	return true
}

func (s *server) remove(client *socket) {
	s.mu.Lock()
	delete(s.sockets, client)
	s.mu.Unlock()
	s.serving.Done()
}

var health = map[string]string{
	"server":    "go-location/" + os.Getenv("TRANSPORT"),
	"runtime":   "Go " + strings.TrimPrefix(runtime.Version(), "go"),
	"framework": framework(),
}

// framework returns the name and version of what carries the transport.
func framework() string {
	if os.Getenv("TRANSPORT") != "websocket" {
		return "net/http " + strings.TrimPrefix(runtime.Version(), "go")
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/gobwas/ws" {
				return "gobwas/ws " + strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "gobwas/ws of an unknown version"
}

func refuse(response http.ResponseWriter, status int, reason string) {
	respondJSON(response, status, map[string]string{"error": reason})
}

func respondJSON(response http.ResponseWriter, status int, body any) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	_, _ = response.Write(must(json.Marshal(body)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
