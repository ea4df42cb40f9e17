package scripted

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Public is a scripted server of a public protocol that docs/examples declares. It has chat rooms, and ends the
// connection of a client that does what the protocol forbids.
type Public struct {
	speech
	http     http.Server
	address  string
	upgrader websocket.Upgrader

	mu     sync.Mutex
	rooms  map[string][]*caller
	counts PublicCounts
}

// PublicCounts are what the server actually did.
type PublicCounts struct {
	Connections, Joined, Deliveries, Answers int64
	Faults                                   []string // of clients
}

// speech is a server's side of one protocol.
type speech struct {
	path, query string
	subprotocol string
	greeting    string // the server's first message; none if empty
	// hear interprets a message of a client, and answers it. An error ends the connection.
	hear func(*caller, []byte) error
	// terminator ends each message, and separator stands between messages that are sent together; most protocols have
	// neither.
	terminator, separator string
	// ping is the server's periodic message. The server expects an answer to it if it has asked for one.
	ping     string
	wantPong bool
}

// pingPeriod is the period of pings: much shorter than that of real servers, so that a short test has some.
const pingPeriod = 300 * time.Millisecond

// caller is a client of the server.
type caller struct {
	server  *Public
	mu      sync.Mutex
	conn    *websocket.Conn
	room    string
	joined  bool
	begun   bool // the handshake of the protocol is over
	pending atomic.Bool
}

// StartPublic starts a server of one of the Publics.
func StartPublic(address, protocol string) (*Public, error) {
	spoken, ok := Publics[protocol]
	if !ok {
		return nil, errors.New("no scripted server of " + protocol)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Public{speech: spoken, address: listener.Addr().String(), rooms: map[string][]*caller{}}
	if s.subprotocol != "" {
		s.upgrader.Subprotocols = []string{s.subprotocol}
	}
	s.upgrader.CheckOrigin = func(*http.Request) bool { return true }
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+s.path, s.accept)
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// URL returns the URL that clients connect to.
func (s *Public) URL() string { return "ws://" + s.address }

// Close stops the server. Its connections end with their clients.
func (s *Public) Close() { _ = s.http.Close() }

// Counts reads the counters.
func (s *Public) Counts() PublicCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts
	counts.Faults = append([]string(nil), counts.Faults...)
	return counts
}

func (s *Public) accept(w http.ResponseWriter, r *http.Request) {
	if s.query != r.URL.RawQuery {
		http.Error(w, "expected ?"+s.query, http.StatusBadRequest)
		return
	}
	conn, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	c := &caller{server: s, conn: conn}
	if conn.Subprotocol() != s.subprotocol {
		s.fault(errors.New("no subprotocol " + s.subprotocol))
		return
	}
	s.count(func(n *PublicCounts) { n.Connections++ })
	defer s.leave(c)
	if s.greeting != "" {
		c.say(s.greeting)
	}
	if s.ping != "" {
		over := make(chan struct{})
		defer close(over)
		go c.pings(over)
	}
	for {
		kind, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if kind != websocket.TextMessage {
			err = errors.New("a binary message")
		} else {
			err = s.hear(c, text)
		}
		if err != nil {
			s.fault(err)
			return
		}
	}
}

// pings pings a client until its end, and ends the connection if an answer is missing.
func (c *caller) pings(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(pingPeriod):
		}
		if c.pending.Swap(c.server.wantPong) {
			c.server.fault(errors.New("a ping without an answer"))
			_ = c.conn.Close()
			return
		}
		c.say(c.server.ping)
	}
}

// ponged handles the answer to a ping.
func (c *caller) ponged() error {
	if !c.pending.Swap(false) {
		return errors.New("an answer to no ping")
	}
	c.server.count(func(n *PublicCounts) { n.Answers++ })
	return nil
}

// say sends messages in one frame.
func (c *caller) say(messages ...string) {
	text := ""
	for place, message := range messages {
		if place > 0 {
			text += c.server.separator
		}
		text += message + c.server.terminator
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.WriteMessage(websocket.TextMessage, []byte(text))
}

// join makes a client a member of its only room.
func (c *caller) join(room string) error {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.joined || room == "" {
		return errors.New("a second join, or one of no room")
	}
	c.room, c.joined = room, true
	s.rooms[room] = append(s.rooms[room], c)
	s.counts.Joined++
	return nil
}

// tell sends a message to the room of a member. The sender first gets its own messages, in the same frame if the
// protocol allows several messages in a frame.
func (c *caller) tell(room, message string, own ...string) error {
	s := c.server
	s.mu.Lock()
	members, ok := append([]*caller(nil), s.rooms[room]...), c.joined && c.room == room
	s.counts.Deliveries += int64(len(members))
	s.mu.Unlock()
	if !ok {
		return errors.New("a message to a room that the client has not joined")
	}
	together := s.terminator+s.separator != ""
	if !together {
		for _, each := range own {
			c.say(each)
		}
	}
	for _, m := range members {
		if m == c && together {
			c.say(append(own, message)...)
		} else {
			m.say(message)
		}
	}
	return nil
}

func (s *Public) leave(c *caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := []*caller{}
	for _, each := range s.rooms[c.room] {
		if each != c {
			kept = append(kept, each)
		}
	}
	s.rooms[c.room], c.joined = kept, false
}

func (s *Public) count(change func(*PublicCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

func (s *Public) fault(err error) {
	s.count(func(n *PublicCounts) { n.Faults = append(n.Faults, err.Error()) })
}

// inJSON returns a value as JSON.
func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values were read from JSON
	}
	return string(text)
}
