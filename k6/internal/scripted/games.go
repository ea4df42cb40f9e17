package scripted

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// seats is the largest number of players in a room.
const seats = 6

// GameFaults are the faults of a server of typing games. Every n-th event is counted over the whole server; 0 means
// never.
type GameFaults struct {
	// Wait passes between the first join of a room and its countdown, unless all seats are taken earlier. Countdown
	// follows. 0 means the value of docs/protocols.md.
	Wait, Countdown time.Duration
	// Delay passes before each keystroke is processed.
	Delay time.Duration
	// DropEvery, DuplicateEvery, MiscountEvery and CrossEvery choose the states that are not sent, sent twice, sent with a
	// wrong number of characters, and sent as those of another room.
	DropEvery, DuplicateEvery, MiscountEvery, CrossEvery int64
	// UnansweredEvery, TwiceEvery, ForeignEvery and AlteredEvery choose the pings that get no answer, two answers, the
	// answer to a ping that no client sent, or an answer with other content.
	UnansweredEvery, TwiceEvery, ForeignEvery, AlteredEvery int64
	// RefuseFor answers the matchmaking with 503 for this long after Arm.
	RefuseFor time.Duration
	// DenyEvery refuses every n-th join.
	DenyEvery int64
	// EndAt ends each room with its keystroke of this number, which is sent to no player.
	EndAt int64
	// NeverStart and NeverEnd leave out the start and the end.
	NeverStart, NeverEnd bool
}

// GameCounts are what the server actually did.
type GameCounts struct {
	Connections, Deliveries                                int64
	Keystrokes, Strayed                                    int64 // in a room, and outside of any
	Rooms, Ended, Cut                                      int64
	Refused, Denied                                        int64
	Dropped, Duplicated, Miscounted, Crossed               int64
	Pings, Unanswered, AnsweredTwice, Misanswered, Altered int64
}

// GameServer is a running scripted server of typing games.
type GameServer struct {
	clock
	faults   GameFaults
	listener net.Listener
	http     http.Server
	upgrader websocket.Upgrader

	number, joins, pings atomic.Int64 // number of the next state, and so on
	connections          atomic.Int64
	deliveries           atomic.Int64

	mu      sync.Mutex // guards what follows
	counts  GameCounts
	rooms   map[string]*gameRoom
	waiting map[int]*gameRoom // by length
}

// gameRoom is a room. Messages to its players go out under its lock, so that all receive them in the same order.
type gameRoom struct {
	name, text string
	given      int // seats given; guarded by the server's lock
	closed     atomic.Bool

	mu       sync.Mutex
	started  bool
	over     bool
	keys     int64
	players  []*player
	finished []string
}

// player is a connection.
type player struct {
	mu              sync.Mutex
	conn            *websocket.Conn
	user            string
	room            atomic.Pointer[gameRoom]
	typed, mistakes int
}

// StartGames listens on the address, for example 127.0.0.1:0.
func StartGames(address string, faults GameFaults) (*GameServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if faults.Wait == 0 {
		faults.Wait = 2 * time.Second
	}
	if faults.Countdown == 0 {
		faults.Countdown = time.Second
	}
	s := &GameServer{
		faults: faults, listener: listener, rooms: map[string]*gameRoom{}, waiting: map[int]*gameRoom{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/pvp/matchmake", s.matchmake)
	mux.HandleFunc("GET /socket.io/", s.accept)
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.Counts())
	})
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// URL returns the URL that clients connect to.
func (s *GameServer) URL() string { return "http://" + s.listener.Addr().String() }

// Close stops accepting connections.
func (s *GameServer) Close() { _ = s.http.Close() }

// Counts reads the counters.
func (s *GameServer) Counts() GameCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Connections, c.Deliveries = s.connections.Load(), s.deliveries.Load()
	return c
}

func (s *GameServer) count(change func(*GameCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

func (s *GameServer) matchmake(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Characters int }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	if since := s.sinceArm(); s.faults.RefuseFor > 0 && since < s.faults.RefuseFor {
		s.count(func(c *GameCounts) { c.Refused++ })
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.waiting[asked.Characters]
	if room == nil || room.closed.Load() || room.given == seats {
		s.counts.Rooms++
		text := strings.Repeat("the quick brown fox jumps over the lazy dog ", asked.Characters/40+1)
		room = &gameRoom{name: fmt.Sprintf("r-%d", s.counts.Rooms), text: text[:asked.Characters]}
		s.rooms[room.name], s.waiting[asked.Characters] = room, room
	}
	room.given++
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"roomId":%q}`, room.name)
}

func (s *GameServer) accept(w http.ResponseWriter, r *http.Request) {
	defer s.connections.Add(-1)
	s.connections.Add(1)
	conn, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	p := &player{conn: conn}
	defer func() {
		s.leave(p)
		_ = conn.Close()
	}()
	p.write([]byte(`0{"sid":"scripted","upgrades":[],"pingInterval":60000,"pingTimeout":60000,"maxPayload":65536}`))
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		s.understand(p, string(text))
	}
}

func (s *GameServer) understand(p *player, text string) {
	if text == "40" {
		p.write([]byte(`40{"sid":"scripted"}`))
		return
	}
	head, body, found := strings.Cut(text, ",")
	id, name, _ := strings.Cut(strings.TrimPrefix(head, "42"), "[")
	if !found {
		return
	}
	switch body = strings.TrimSuffix(body, "]"); name {
	case `"pvp:join"`:
		s.join(p, id, body)
	case `"pvp:keystrokes"`:
		if s.faults.Delay > 0 {
			time.AfterFunc(s.faults.Delay, func() { s.press(p, body) })
			return
		}
		s.press(p, body)
	case `"ping"`:
		s.pong(p, id, body)
	}
}

func (p *player) write(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.conn.WriteMessage(websocket.TextMessage, text)
}

// tell sends a message to all players of the room. The caller holds its lock.
func (g *gameRoom) tell(format string, values ...any) {
	text := fmt.Appendf(nil, format, values...)
	for _, p := range g.players {
		p.write(text)
	}
}
