package main

import (
	"errors"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gobwas/ws"
)

// How long a connection may take to send the header of a request.
const handshakeTimeout = 10 * time.Second

// server answers /healthz, upgrades /ws, and closes both. client handles the messages of clients.
type server struct {
	http   http.Server
	boards boards

	mu       sync.Mutex
	clients  map[*client]struct{}
	stopping bool
	serving  sync.WaitGroup
}

func newServer() *server {
	s := &server{boards: boards{byID: make(map[string]*board)}, clients: make(map[*client]struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", respondHealth)
	mux.HandleFunc("/ws", s.upgrade)
	s.http.Handler = mux
	s.http.ReadHeaderTimeout, s.http.IdleTimeout = handshakeTimeout, handshakeTimeout
	return s
}

// serve returns when the server is stopped, or with an error.
func (s *server) serve(listener net.Listener) error {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stop returns when every client is gone, which takes no longer than closeTimeout.
func (s *server) stop() {
	_ = s.http.Close()
	s.mu.Lock()
	s.stopping = true
	for client := range s.clients {
		client.close(ws.StatusGoingAway)
	}
	s.mu.Unlock()
	s.serving.Wait()
}

func (s *server) upgrade(response http.ResponseWriter, request *http.Request) {
	conn, buffered, _, err := ws.UpgradeHTTP(request, response)
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return
	}
	client := newClient(conn, buffered.Reader, &s.boards)
	if !s.add(client) {
		_ = conn.Close()
		return
	}
	// In a goroutine of its own, so that net/http can release the request.
	go func() {
		defer s.remove(client)
		client.serve()
	}()
}

func (s *server) add(client *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.clients[client] = struct{}{}
	s.serving.Add(1)
	return true
}

func (s *server) remove(client *client) {
	s.mu.Lock()
	delete(s.clients, client)
	s.mu.Unlock()
	s.serving.Done()
}

var health = must(json.Marshal(map[string]string{
	"server":    "go",
	"runtime":   "Go " + strings.TrimPrefix(runtime.Version(), "go"),
	"framework": "gobwas/ws " + strings.TrimPrefix(moduleVersion("github.com/gobwas/ws"), "v"),
}, json.Deterministic(true)))

func respondHealth(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "application/json")
	_, _ = response.Write(health)
}

// moduleVersion returns the version of a module with which this program was built.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == path {
				return module.Version
			}
		}
	}
	return "unknown"
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
