// Package scripted implements servers with exactly known faults. They are the truth against which the generator's
// numbers are tested, and the common source of messages for all clients that are compared with the generator. Unlike
// the benchmarked servers, they validate nothing and trust their clients.
package scripted

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Faults are the faults of the server. Every n-th delivery is counted over the whole server.
type Faults struct {
	// After is when, after Arm, the faults that count deliveries begin; Until is when they end, 0 for never.
	After, Until time.Duration
	// Delay passes before each message is delivered.
	Delay time.Duration
	// StallAt is when, after Arm, the server stops for StallFor before it continues.
	StallAt, StallFor time.Duration
	DropEvery         int64
	DuplicateEvery    int64
	// SwapEvery holds a delivery back until the next one from the same sender to the same receiver has been sent.
	SwapEvery    int64
	CorruptEvery int64
	// CrossEvery also delivers to a member of another board.
	CrossEvery int64
	// UnansweredEvery, TwiceEvery and ForeignEvery choose the pings of WebSockets, and the joins of Socket.IO, that get no
	// answer, two answers, or the answer to one that no client sent.
	UnansweredEvery, TwiceEvery, ForeignEvery int64
	// PingInterval and PingTimeout are the values in the server's open packet of Socket.IO; 0 means a minute.
	PingInterval, PingTimeout time.Duration
	// PingsUntil is when, after Arm, the server sends its last ping of Socket.IO; 0 means never.
	PingsUntil time.Duration
	// BinaryFirst answers the first joins, this many, with a binary message.
	BinaryFirst int64
	// Most bounds how many deliveries are corrupted or crossed; 0 means no bound.
	Most int64
	// RefuseBeyond refuses connections once there are that many; 0 accepts all.
	RefuseBeyond int64
	// RefuseFor refuses all connections for this long after Arm.
	RefuseFor time.Duration
	// AcceptPause is the pause between two accepted connections.
	AcceptPause time.Duration
	// ResetFirst resets the first connections, this many, as soon as they are accepted.
	ResetFirst int64
	// CloseFirst closes the first WebSockets, this many, when their client asks to join.
	CloseFirst int64
	// Burn is the CPU time that each delivery takes.
	Burn time.Duration
	// Capacity is the maximum number of deliveries a second; more than that queue. 0 means no limit.
	Capacity int64
	// Bytes is a capacity in bytes of messages a second, used instead of Capacity.
	Bytes int64
	// PauseEach is a pause before each message is delivered, once for each open connection.
	PauseEach time.Duration
	// Silent acknowledges joins and delivers nothing.
	Silent bool
	// KeepOpen neither answers a close nor closes the connection.
	KeepOpen bool
}

// Counts are what the server actually did.
type Counts struct {
	Connections, Deliveries                                         int64
	Dropped, Duplicated, Held, Swapped, Corrupted, Crossed, Refused int64
	Pings, Unanswered, AnsweredTwice, Misanswered                   int64
	EnginePings, EnginePongs, LatePongs, Binaries                   int64
}

// Server is a running scripted server.
type Server struct {
	clock
	faults   Faults
	address  string
	http     http.Server
	upgrader websocket.Upgrader
	closed   chan struct{}

	pace                                                                         *pace
	closedEarly                                                                  atomic.Int64
	number                                                                       atomic.Int64 // of the next delivery
	deliveries                                                                   atomic.Int64
	dropped, duplicated, held, swapped, corrupted, crossed, refused, connections atomic.Int64

	pings, unanswered, answeredTwice, misanswered atomic.Int64
	enginePings, enginePongs, latePongs, binaries atomic.Int64

	closeOnce sync.Once
	mu        sync.Mutex
	listener  net.Listener
	boards    map[string]*board
}

type board struct {
	mu      sync.Mutex
	members []*member
	later   later
}

// Start listens on the address, for example 127.0.0.1:0.
func Start(address string, faults Faults) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		faults: faults, address: listener.Addr().String(), closed: make(chan struct{}), boards: map[string]*board{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws", s.serve(newPlain))
	mux.HandleFunc("GET /packed", s.serve(newPacked))
	mux.HandleFunc("GET /socket.io/", s.serve(newSocketIO))
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.Counts())
	})
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"server": "scripted", "runtime": "go", "framework": "none"}`))
	})
	s.pace = newPace(max(faults.Capacity, faults.Bytes))
	s.listen(listener)
	return s, nil
}

// URL returns the URL that clients connect to.
func (s *Server) URL() string { return "ws://" + s.address }

// Close ends every connection.
func (s *Server) Close() {
	s.closeOnce.Do(func() { close(s.closed) })
	_ = s.http.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.boards {
		for _, m := range b.snapshot() {
			_ = m.conn.Close()
		}
	}
}

// Counts reads the counters.
func (s *Server) Counts() Counts {
	return Counts{
		s.connections.Load(), s.deliveries.Load(),
		s.dropped.Load(), s.duplicated.Load(), s.held.Load(), s.swapped.Load(), s.corrupted.Load(), s.crossed.Load(),
		s.refused.Load(), s.pings.Load(), s.unanswered.Load(), s.answeredTwice.Load(), s.misanswered.Load(),
		s.enginePings.Load(), s.enginePongs.Load(), s.latePongs.Load(), s.binaries.Load(),
	}
}

// serve accepts clients of one dialect.
func (s *Server) serve(speak func(*Server, *member) dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.accept(w, r, speak) }
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request, speak func(*Server, *member) dialect) {
	defer s.connections.Add(-1)
	n, limit := s.connections.Add(1), s.faults.RefuseBeyond
	if limit > 0 && n > limit || s.faults.RefuseFor > 0 && s.sinceArm() < s.faults.RefuseFor {
		s.refused.Add(1)
		http.Error(w, "full", http.StatusServiceUnavailable)
		return
	}
	conn, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	m := &member{conn: conn, held: map[*member][]byte{}}
	var joined *board
	defer func() {
		if joined != nil {
			joined.remove(m)
		}
		if s.faults.KeepOpen {
			<-s.closed
		}
		_ = conn.Close()
	}()
	if s.faults.KeepOpen {
		conn.SetCloseHandler(func(int, string) error { return nil })
	}
	conn.SetPingHandler(func(data string) error { return s.pong(conn, data) })
	says := speak(s, m)
	says.greet()
	defer says.end()
	for {
		text, err := m.read()
		if err != nil {
			return
		}
		s.stall(s.faults.StallAt, s.faults.StallFor)
		switch verb, body := says.understand(text); {
		case verb == draw:
			s.broadcast(joined, m, text)
		case verb == join && s.closedEarly.Add(1) <= s.faults.CloseFirst:
			return
		case verb == join && s.binaries.Add(1) <= s.faults.BinaryFirst:
			m.send(websocket.BinaryMessage, body)
		case verb == join:
			joined = s.join(joined, m, body)
			says.acknowledge(bytes.Replace(body, []byte(`"join"`), []byte(`"joined"`), 1))
		case verb == leave && joined != nil:
			joined.remove(m)
			joined = nil
		}
	}
}

func (s *Server) join(already *board, m *member, text []byte) *board {
	var message struct{ BoardID, UserID string }
	_ = json.Unmarshal(text, &message)
	if already == nil {
		s.mu.Lock()
		found, ok := s.boards[message.BoardID]
		if !ok {
			found = &board{}
			s.boards[message.BoardID] = found
		}
		s.mu.Unlock()
		found.add(m)
		already = found
	}
	return already
}

func (b *board) add(m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members = append(append([]*member(nil), b.members...), m)
}

func (b *board) remove(m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := make([]*member, 0, len(b.members))
	for _, other := range b.members {
		if other != m {
			kept = append(kept, other)
		}
	}
	b.members = kept
}

// snapshot returns a slice that may be kept: it is replaced, never changed.
func (b *board) snapshot() []*member {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.members
}

func (s *Server) broadcast(b *board, sender *member, text []byte) {
	if b == nil || s.faults.Silent {
		return
	}
	if delay := s.faults.Delay + s.faults.PauseEach*time.Duration(s.connections.Load()); delay > 0 {
		b.later.after(delay, func() { s.deliver(b, sender, text) })
		return
	}
	if s.pace != nil {
		s.pace.after(func() int { return s.units(b, text) }, func() { s.deliver(b, sender, text) })
		return
	}
	s.deliver(b, sender, text)
}

// units returns how much of the capacity a broadcast uses: one unit per delivery, or their bytes.
func (s *Server) units(b *board, text []byte) int {
	members := len(b.snapshot())
	if s.faults.Bytes > 0 {
		return members * len(text)
	}
	return members
}

func (s *Server) deliver(b *board, sender *member, text []byte) {
	message, err := websocket.NewPreparedMessage(sender.frame(text))
	if err != nil {
		return
	}
	f, since := s.faults, s.sinceArm()
	faulty := f.DropEvery+f.DuplicateEvery+f.SwapEvery+f.CorruptEvery+f.CrossEvery > 0 &&
		since >= f.After && (f.Until == 0 || since < f.Until)
	for _, m := range b.snapshot() {
		burn(f.Burn)
		if faulty {
			s.deliverFaulty(b, m, sender, text)
			continue
		}
		m.mu.Lock()
		_ = m.conn.WritePreparedMessage(message)
		m.mu.Unlock()
		s.deliveries.Add(1)
	}
}

func (s *Server) deliverFaulty(b *board, m, sender *member, text []byte) {
	number := s.number.Add(1)
	every := func(n int64) bool { return n > 0 && number%n == 0 }
	switch {
	case every(s.faults.DropEvery):
		s.dropped.Add(1)
		return
	case every(s.faults.CorruptEvery) && s.once(&s.corrupted):
		m.write(bytes.Replace(text, []byte("[["), []byte("[[1"), 1))
		return
	case every(s.faults.SwapEvery) && m.hold(sender, text):
		s.held.Add(1)
		return
	}
	if every(s.faults.CrossEvery) {
		if stranger := s.outside(b); stranger != nil && s.once(&s.crossed) {
			stranger.write(text)
		}
	}
	s.deliveries.Add(1)
	m.write(text)
	if every(s.faults.DuplicateEvery) {
		s.duplicated.Add(1)
		m.write(text)
	}
	if held := m.release(sender); held != nil {
		s.swapped.Add(1)
		s.deliveries.Add(1)
		m.write(held)
	}
}

// once counts a fault, unless the maximum number has been reached.
func (s *Server) once(counter *atomic.Int64) bool {
	if counter.Add(1) > s.faults.Most && s.faults.Most > 0 {
		counter.Add(-1)
		return false
	}
	return true
}

// outside returns a member of another board; nil if there is none.
func (s *Server) outside(b *board) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.boards {
		if members := other.snapshot(); other != b && len(members) > 0 {
			return members[0]
		}
	}
	return nil
}

// hold keeps a delivery back, unless one is held already.
