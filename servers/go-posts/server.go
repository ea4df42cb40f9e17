package main

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const maxBodyBytes = 64 * 1024

const (
	// How long a connection may take to send the header of a request.
	requestTimeout = 10 * time.Second
	// How long a connection may stay without a request.
	idleTimeout = 60 * time.Second
	// How long requests in flight may take. SIGTERM has to end the process within 5 s.
	stopTimeout = 3 * time.Second
)

// posts is a store of posts.
type posts interface {
	insert(ctx context.Context, title, content string) (int64, error)
	find(ctx context.Context, no int64) (post, error)
	use() poolUse
	close()
}

// server answers requests. The posts are stored in posts.
type server struct {
	http  http.Server
	posts posts
}

func newServer(posts posts) *server {
	s := &server{posts: posts}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /post", s.create)
	mux.HandleFunc("GET /post/{no}", s.read)
	mux.HandleFunc("GET /metricz", s.respondMetrics)
	mux.HandleFunc("GET /healthz", respondHealth)
	for path, allowed := range map[string]string{
		"/post": "POST", "/post/{no}": "GET, HEAD", "/metricz": "GET, HEAD", "/healthz": "GET, HEAD",
	} {
		mux.HandleFunc(path, func(response http.ResponseWriter, _ *http.Request) {
			response.Header().Set("Allow", allowed)
			refuse(response, http.StatusMethodNotAllowed, "method not allowed")
		})
	}
	mux.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) { respondNotFound(response) })
	s.http.Handler = mux
	s.http.ReadHeaderTimeout, s.http.IdleTimeout = requestTimeout, idleTimeout
	return s
}

// serve returns when the server is stopped, or with an error.
func (s *server) serve(listener net.Listener) error {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stop returns when the requests in flight are answered, or stopTimeout is over.
func (s *server) stop() {
	deadline, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if s.http.Shutdown(deadline) != nil {
		_ = s.http.Close()
	}
	s.posts.close()
}

func (s *server) create(response http.ResponseWriter, request *http.Request) {
	if kind, _, err := mime.ParseMediaType(request.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(response, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
	if errors.As(err, new(*http.MaxBytesError)) {
		refuse(response, http.StatusRequestEntityTooLarge, "a body must have at most 65536 bytes")
		return
	}
	wanted, err := parsePost(body)
	if err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	no, err := s.posts.insert(request.Context(), wanted.Title, wanted.Content)
	if err != nil {
		respondUnavailable(response)
		return
	}
	response.Header().Set("Location", "/post/"+strconv.FormatInt(no, 10))
	response.WriteHeader(http.StatusCreated)
}

func (s *server) read(response http.ResponseWriter, request *http.Request) {
	no, err := strconv.ParseUint(request.PathValue("no"), 10, 63)
	if err != nil {
		respondNotFound(response)
		return
	}
	found, err := s.posts.find(request.Context(), int64(no))
	switch {
	case errors.Is(err, errNoPost):
		respondNotFound(response)
	case err != nil:
		respondUnavailable(response)
	default:
		respond(response, http.StatusOK, found)
	}
}

func (s *server) respondMetrics(response http.ResponseWriter, _ *http.Request) {
	use := s.posts.use()
	respond(response, http.StatusOK, struct {
		PoolSize    int    `json:"pool_size"`
		PoolActive  int    `json:"pool_active"`
		PoolWaiting int    `json:"pool_waiting"`
		Threads     uint64 `json:"threads"`
	}{poolSize, use.active, use.waiting, threads()})
}

func threads() uint64 {
	sample := []metrics.Sample{{Name: "/sched/threads/total:threads"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var health = map[string]string{
	"server":    "go-posts",
	"runtime":   "Go " + strings.TrimPrefix(runtime.Version(), "go"),
	"framework": "go-sql-driver/mysql " + strings.TrimPrefix(moduleVersion("github.com/go-sql-driver/mysql"), "v"),
}

func respondHealth(response http.ResponseWriter, _ *http.Request) {
	respond(response, http.StatusOK, health)
}

func respondNotFound(response http.ResponseWriter) {
	refuse(response, http.StatusNotFound, "not found")
}

func respondUnavailable(response http.ResponseWriter) {
	refuse(response, http.StatusServiceUnavailable, "the database does not answer")
}

func refuse(response http.ResponseWriter, status int, reason string) {
	respond(response, status, map[string]string{"error": reason})
}

func respond(response http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	response.WriteHeader(status)
	_, _ = response.Write(encoded)
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
