package scripted

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// HTTPFaults are the faults of an HTTP server. Every n-th exchange and every n-th token are counted over the whole
// server; 0 means never.
type HTTPFaults struct {
	// Delay passes before each answer.
	Delay time.Duration
	// LateEvery makes every n-th exchange begin later by Late.
	LateEvery int64
	Late      time.Duration
	// StallAt is when, after Arm, the server stops for StallFor before it continues.
	StallAt, StallFor time.Duration
	// ResetEvery resets the connection: in the middle of a stream, or instead of the answer to another request.
	ResetEvery int64
	// RefuseEvery answers 503, and does nothing else.
	RefuseEvery int64
	// PhantomEvery answers 201 without creating a row.
	PhantomEvery int64
	// TwiceEvery sends an answer twice.
	TwiceEvery int64
	// LastEvery answers a post with `Connection: close`, and ends the connection.
	LastEvery int64

	// FirstDelay passes between the header and the first token of a stream, Gap between two tokens, and EndDelay
	// between the last one and the end.
	FirstDelay, Gap, EndDelay time.Duration
	// LateTokenEvery makes LateToken pass before a token.
	LateTokenEvery int64
	LateToken      time.Duration
	DropEvery      int64
	RepeatEvery    int64
	// SwapEvery holds a token back until the next one of its stream has been sent.
	SwapEvery int64
	// CutEvery ends a stream after half of its tokens, as if that were all.
	CutEvery int64
	// UntilClose ends streams by closing the connection, without chunks.
	UntilClose bool
	// InParts sends each line of an event in a chunk of its own.
	InParts bool
}

// HTTPCounts are what the server actually did.
type HTTPCounts struct {
	Exchanges, Late, Resets, Refused             int64
	Rows, Phantoms, Twice                        int64
	Streams, Cut, Left                           int64 // begun; ended early by the server, and by the client
	Tokens, LateTokens                           int64 // sent, repetitions included
	DroppedTokens, RepeatedTokens, SwappedTokens int64
}

// HTTPServer is a running scripted server of streams of tokens and of posts.
type HTTPServer struct {
	clock
	faults   HTTPFaults
	listener net.Listener

	exchanges, tokens atomic.Int64 // number of the last one, sent or not

	mu          sync.Mutex
	counts      HTTPCounts
	rows        map[int64][]byte
	last        int64 // number of a row
	connections map[*net.TCPConn]struct{}
	closed      bool
}

// StartHTTP listens on the address, for example 127.0.0.1:0.
func StartHTTP(address string, faults HTTPFaults) (*HTTPServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &HTTPServer{
		faults: faults, listener: listener, rows: map[int64][]byte{}, connections: map[*net.TCPConn]struct{}{},
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn.(*net.TCPConn))
		}
	}()
	return s, nil
}

// URL returns the URL that clients connect to.
func (s *HTTPServer) URL() string { return "http://" + s.listener.Addr().String() }

// Counts reads the counters.
func (s *HTTPServer) Counts() HTTPCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Row returns what was posted under that number; nil if there is no such row.
func (s *HTTPServer) Row(number int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[number]
}

// Close ends every connection.
func (s *HTTPServer) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for conn := range s.connections {
		_ = conn.Close()
	}
}

// count changes the counters.
func (s *HTTPServer) count(change func(*HTTPCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// exchange is one request, and the number that selects its faults.
type exchange struct {
	conn    *net.TCPConn
	request *http.Request
	body    []byte
	number  int64
}

// hit reports whether a fault of every n-th exchange or token applies to that number.
func hit(number, every int64) bool { return every > 0 && number%every == 0 }

func (s *HTTPServer) serve(conn *net.TCPConn) {
	s.mu.Lock()
	s.connections[conn] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.connections, conn)
	}()
	for reader := bufio.NewReader(conn); !closed; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		if request.URL.Path == "/counts" {
			_, _ = conn.Write(s.tell())
			continue
		}
		if !s.exchange(exchange{conn, request, body, s.exchanges.Add(1)}) {
			return
		}
	}
}

// tell answers /counts as the server of boards does: the number of other connections, and the number of deliveries.
func (s *HTTPServer) tell() []byte {
	s.mu.Lock()
	counts := Counts{Connections: int64(len(s.connections)) - 1, Deliveries: s.counts.Tokens + s.counts.Rows}
	s.mu.Unlock()
	text, err := json.Marshal(counts)
	if err != nil {
		panic(err) // only numbers
	}
	return answer("200 OK", "", text)
}

// exchange answers one request, and reports whether another may follow on the connection.
func (s *HTTPServer) exchange(x exchange) bool {
	f := s.faults
	s.stall(f.StallAt, f.StallFor)
	s.count(func(c *HTTPCounts) { c.Exchanges++ })
	time.Sleep(f.Delay)
	if hit(x.number, f.LateEvery) {
		s.count(func(c *HTTPCounts) { c.Late++ })
		time.Sleep(f.Late)
	}
	stream := x.request.URL.Path == "/stream"
	switch {
	case hit(x.number, f.RefuseEvery):
		s.count(func(c *HTTPCounts) { c.Refused++ })
		return x.write(answer("503 Service Unavailable", "", []byte(`{"error":"refused"}`)))
	case hit(x.number, f.ResetEvery) && !stream:
		return s.reset(x)
	case stream:
		return s.stream(x)
	case x.request.Method == http.MethodPost && x.request.URL.Path == "/post":
		return s.post(x)
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(x.request.URL.Path, "/post/"), 10, 64)
	row := s.Row(number)
	if err != nil || row == nil {
		return x.write(answer("404 Not Found", "", []byte(`{"error":"not found"}`)))
	}
	return x.write(answer("200 OK", "", row))
}

// reset ends the connection with an RST.
func (s *HTTPServer) reset(x exchange) bool {
	s.count(func(c *HTTPCounts) { c.Resets++ })
	_ = x.conn.SetLinger(0)
	return false
}

// post creates a row, and answers with its location.
func (s *HTTPServer) post(x exchange) bool {
	if !json.Valid(x.body) {
		return x.write(answer("400 Bad Request", "", []byte(`{"error":"not JSON"}`)))
	}
	phantom := hit(x.number, s.faults.PhantomEvery)
	s.mu.Lock()
	s.last++
	number := s.last
	if phantom {
		s.counts.Phantoms++
	} else {
		s.counts.Rows++
		s.rows[number] = x.body
	}
	s.mu.Unlock()
	fields, last := fmt.Sprintf("Location: /post/%d\r\n", number), hit(x.number, s.faults.LastEvery)
	if last {
		fields += "Connection: close\r\n"
	}
	text := answer("201 Created", fields, x.body)
	if hit(x.number, s.faults.TwiceEvery) {
		s.count(func(c *HTTPCounts) { c.Twice++ })
		text = append(text, text...)
	}
	return x.write(text) && !last
}

// answer is a response with a body of JSON.
func answer(status, fields string, body []byte) []byte {
	fields += "Content-Type: application/json\r\n"
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), fields, body)
}

// write sends bytes, and reports whether that succeeded.
func (x exchange) write(text []byte) bool {
	_, err := x.conn.Write(text)
	return err == nil
}
