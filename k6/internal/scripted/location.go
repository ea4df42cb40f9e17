package scripted

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// LocationFaults are the faults of a server of positions. Every n-th position and poll are counted over the whole
// server; 0 means never.
type LocationFaults struct {
	// Delay passes between a PUT and the moment at which the others are sent the position.
	Delay time.Duration
	// HideEvery accepts a position and never sends it to others.
	HideEvery int64
	// AlterEvery sends another place.
	AlterEvery int64
	// Late passes before each poll is answered with the positions of that time.
	Late time.Duration
	// EarlyEvery answers a poll at once, without any position.
	EarlyEvery int64
	// TwiceEvery answers a poll twice.
	TwiceEvery int64
	// NeverAfter answers that many polls, and no further one.
	NeverAfter int64
	// RefuseEvery answers a PUT with 503.
	RefuseEvery int64
	// EndPuts ends the connection after the PUT of that number.
	EndPuts int64
}

// LocationCounts are what the server actually did.
type LocationCounts struct {
	Put, Hidden, Altered, Refused int64
	Told                          int64 // positions, counted for each recipient after its first news
	Superseded                    int64 // positions replaced by newer ones, counted likewise
	Polls, Early, Twice, Never    int64
}

// LocationServer is a running scripted server of positions.
type LocationServer struct {
	faults   LocationFaults
	http     http.Server
	listener net.Listener
	upgrader websocket.Upgrader

	puts, polls atomic.Int64

	mu     sync.Mutex
	counts LocationCounts
	groups map[string]*fleet
}

// fleet is a group of users.
type fleet struct {
	log     []place       // positions that others are sent; the version is the number of the entry, from 1
	changed chan struct{} // closed by the next position
}

type place struct {
	user string
	text []byte
}

// StartLocation listens on the address, for example 127.0.0.1:0.
func StartLocation(address string, faults LocationFaults) (*LocationServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &LocationServer{faults: faults, listener: listener, groups: map[string]*fleet{}}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /groups/{group}/positions/{user}", s.put)
	mux.HandleFunc("GET /groups/{group}/positions", s.poll)
	mux.HandleFunc("GET /groups/{group}/events", s.stream)
	mux.HandleFunc("GET /groups/{group}/socket", s.socket)
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// URL returns the URL that clients connect to.
func (s *LocationServer) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends every connection except those of sockets.
func (s *LocationServer) Close() { _ = s.http.Close() }

// Counts reads the counters.
func (s *LocationServer) Counts() LocationCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

func (s *LocationServer) count(change func(*LocationCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// group returns the fleet of that name. The caller holds the lock.
func (s *LocationServer) group(name string) *fleet {
	found := s.groups[name]
	if found == nil {
		found = &fleet{changed: make(chan struct{})}
		s.groups[name] = found
	}
	return found
}

func (s *LocationServer) put(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	number := s.puts.Add(1)
	if err != nil || hit(number, s.faults.RefuseEvery) {
		s.count(func(c *LocationCounts) { c.Refused++ })
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.accept(number, r.PathValue("group"), r.PathValue("user"), text)
	if number == s.faults.EndPuts {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(http.StatusNoContent)
}

// accept publishes a position to the others, or injects a fault.
func (s *LocationServer) accept(number int64, group, user string, text []byte) {
	s.count(func(c *LocationCounts) { c.Put++ })
	if hit(number, s.faults.HideEvery) {
		s.count(func(c *LocationCounts) { c.Hidden++ })
		return
	}
	if hit(number, s.faults.AlterEvery) {
		s.count(func(c *LocationCounts) { c.Altered++ })
		text = bytes.Replace(text, []byte(`"lat":52`), []byte(`"lat":53`), 1)
	}
	publish := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		g := s.group(group)
		g.log = append(g.log, place{user, text})
		close(g.changed)
		g.changed = make(chan struct{})
	}
	if s.faults.Delay == 0 {
		publish()
		return
	}
	time.AfterFunc(s.faults.Delay, publish)
}

// since returns the newest positions of the others after the version that a user has; a version below 0 means that it
// has none. The next position closes changed.
func (s *LocationServer) since(group, user string, known int) (version int, news []place, changed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.group(group)
	seen := map[string]bool{user: true}
	for i := len(g.log) - 1; i >= max(known, 0); i-- {
		switch found := g.log[i]; {
		case !seen[found.user]:
			seen[found.user] = true
			news = append([]place{found}, news...)
			if known >= 0 {
				s.counts.Told++
			}
		case found.user != user && known >= 0:
			s.counts.Superseded++
		}
	}
	return len(g.log), news, g.changed
}

// news returns the form in which all transports send positions.
func news(version int, places []place) []byte {
	text := fmt.Appendf(nil, `{"version":%d,"positions":[`, version)
	for i, each := range places {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"user":%q,%s`, each.user, each.text[1:])
	}
	return append(text, "]}"...)
}

func (s *LocationServer) poll(w http.ResponseWriter, r *http.Request) {
	number := s.polls.Add(1)
	s.count(func(c *LocationCounts) { c.Polls++ })
	if s.faults.NeverAfter > 0 && number > s.faults.NeverAfter {
		s.count(func(c *LocationCounts) { c.Never++ })
		<-r.Context().Done()
		return
	}
	group, user := r.PathValue("group"), r.URL.Query().Get("user")
	known, err := strconv.Atoi(r.URL.Query().Get("since"))
	if err != nil {
		known = -1
	}
	if known >= 0 && hit(number, s.faults.EarlyEvery) {
		s.count(func(c *LocationCounts) { c.Early++ })
		s.tell(w, number, news(known, nil))
		return
	}
	if known >= 0 {
		time.Sleep(s.faults.Late)
	}
	wait, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	for end := time.After(time.Duration(wait) * time.Second); ; {
		version, found, changed := s.since(group, user, known)
		if known < 0 || len(found) > 0 || wait == 0 {
			s.tell(w, number, news(version, found))
			return
		}
		select {
		case <-changed:
		case <-end:
			wait = 0
		case <-r.Context().Done():
			return
		}
	}
}

// tell answers a poll once or twice.
func (s *LocationServer) tell(w http.ResponseWriter, number int64, text []byte) {
	if hit(number, s.faults.TwiceEvery) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			s.count(func(c *LocationCounts) { c.Twice++ })
			said := answer("200 OK", "", text)
			_, _ = conn.Write(append(said, said...))
			_ = conn.(*net.TCPConn).CloseWrite()
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// follow sends every position that is put from now on, until tell reports a failure. The first news contains the
// earlier positions.
func (s *LocationServer) follow(r *http.Request, tell func(version int, text []byte) bool) {
	group, user := r.PathValue("group"), r.URL.Query().Get("user")
	known, found, changed := s.since(group, user, -1)
	for going := tell(known, news(known, found)); going; {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
		var fresh []place
		fresh, changed = s.after(group, known)
		for _, each := range fresh {
			known++
			if each.user != user && going {
				s.count(func(c *LocationCounts) { c.Told++ })
				going = tell(known, news(known, []place{each}))
			}
		}
	}
}

// after returns all positions after that version.
func (s *LocationServer) after(group string, version int) (fresh []place, changed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.group(group)
	return g.log[version:], g.changed
}

func (s *LocationServer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	s.follow(r, func(version int, text []byte) bool {
		_, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", version, text)
		w.(http.Flusher).Flush()
		return err == nil
	})
}

func (s *LocationServer) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	go s.follow(r, func(_ int, text []byte) bool { return conn.WriteMessage(websocket.TextMessage, text) == nil })
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		s.accept(s.puts.Add(1), r.PathValue("group"), r.URL.Query().Get("user"), text)
	}
}
