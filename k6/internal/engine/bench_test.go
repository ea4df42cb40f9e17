package engine

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // RFC 6455 prescribes it
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// These benchmarks feed a loop the bytes that a server sends, and measure what the loop costs without the kernel's
// work.

// benchLoop returns a loop whose clients have no server: what they write is discarded.
func benchLoop(b testing.TB, name string, groups schedule.Groups, clients int) *loop {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	e, err := New(Config{
		URL: "ws://" + listener.Addr().String(), Protocol: name, Loops: 1, Groups: []schedule.Groups{groups},
		Schedule: schedule.Schedule{Stages: []schedule.Stage{{Clients: clients, SteadySeconds: 3600}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	e.origin = time.Now()
	l := e.loops[0]
	l.second = newSecond(0, l.engine.protocol.Requests())
	l.seat(e.populations[0])
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = unix.Close(null) })
	for _, c := range l.clients {
		c.fd, c.state = null, shaking
		c.session = e.protocol.NewSession(e.target, l.identity(c))
	}
	return l
}

// upgraded returns the answer to the opening handshake of a WebSocket.
func upgraded(b testing.TB, opening []byte) []byte {
	b.Helper()
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(opening)))
	if err != nil {
		b.Fatal(err)
	}
	key := request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	digest := sha1.Sum([]byte(key)) //nolint:gosec // likewise
	return fmt.Appendf(nil,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(digest[:]))
}

// textFrame appends what a server sends to all members of a board.
func textFrame(buf, payload []byte) []byte {
	if n := len(payload); n < 126 {
		buf = append(buf, 0x81, byte(n))
	} else {
		buf = append(buf, 0x81, 126, byte(n>>8), byte(n))
	}
	return append(buf, payload...)
}

// BenchmarkDelivery delivers each message to each member of its board, for 20 boards round-robin.
func BenchmarkDelivery(b *testing.B) {
	const boards, members = 20, 50
	l := benchLoop(b, "whiteboard-json", schedule.Groups{Size: members, Pattern: schedule.Patterns["steady"]},
		boards*members)
	pens := make([]protocol.Conversation, boards)
	for i, c := range l.clients {
		l.received(c, upgraded(b, c.session.Open(nil)), 0)
		l.received(c, textFrame(nil, []byte(`{"type":"joined"}`)), 0)
		if i%members == 0 {
			pens[c.groupNumber] = l.engine.protocol.NewConversation(l.identity(c))
		}
	}
	due, receivers := time.Duration(0), []*client(nil)
	var text, frame []byte
	b.ReportAllocs()
	for b.Loop() {
		if len(receivers) == 0 {
			due += time.Millisecond
			board := int(due/time.Millisecond) % boards
			receivers = l.clients[board*members : (board+1)*members]
			text = pens[board].Message(text[:0], receivers[0].place.Send(due, 0), due)
			frame = textFrame(frame[:0], text)
		}
		l.received(receivers[0], frame, due+time.Millisecond)
		receivers = receivers[1:]
	}
	if got := l.ledger.Stage(0); got.Received != int64(b.N) || got.Corrupt > 0 {
		b.Fatalf("%+v", got)
	}
}

// BenchmarkUpdate delivers the state of each player to each player of a room, for 500 rooms round-robin.
func BenchmarkUpdate(b *testing.B) {
	const rooms, length = 500, 300
	l := benchLoop(b, "typing-game-socketio", typing(length), rooms*seats)
	for _, c := range l.clients {
		takeSeat(b, l, c, c.number/seats, length)
	}
	due, receivers := time.Duration(0), []*client(nil)
	var frame []byte
	b.ReportAllocs()
	for b.Loop() {
		if len(receivers) == 0 {
			due += time.Millisecond
			room := int(due/time.Millisecond) % rooms
			receivers = l.clients[room*seats : (room+1)*seats]
			frame = stateFrame(l, frame[:0], receivers[0], receivers[0].place.Send(due, 0), due)
		}
		l.received(receivers[0], frame, due+time.Millisecond)
		receivers = receivers[1:]
	}
	if got := l.ledger.Stage(0); got.Received != int64(b.N) || got.Corrupt > 0 {
		b.Fatalf("%+v", got)
	}
}

// BenchmarkToken streams to 1,000 clients, one token each in round-robin order.
func BenchmarkToken(b *testing.B) {
	const clients = 1000
	l := benchLoop(b, "token-stream-sse", schedule.Groups{Size: 1, Pattern: schedule.Patterns["closed"]}, clients)
	header := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	var tokens [][]byte
	for _, character := range protocol.TokenText {
		event := fmt.Sprintf("id:%d\ndata: %c\n\n", len(tokens), character)
		tokens = append(tokens, fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event))
	}
	for _, c := range l.clients {
		l.received(c, nil, 0)
	}
	now, client, token := time.Duration(0), 0, 0
	b.ReportAllocs()
	for b.Loop() {
		c := l.clients[client]
		now += 20 * time.Microsecond
		if token == 0 {
			l.request(c, now, now)
			l.received(c, header, now)
		}
		l.received(c, tokens[token], now)
		if token == len(tokens)-1 {
			l.received(c, []byte("0\r\n\r\n"), now)
		}
		if client++; client == clients {
			client, token = 0, (token+1)%len(tokens)
		}
	}
	if got := l.ledger.Stage(0); got.Received != int64(b.N) || got.Corrupt > 0 {
		b.Fatalf("%+v", got)
	}
}

// BenchmarkPost has 1,000 clients make a request each in round-robin order and receive the answer.
func BenchmarkPost(b *testing.B) {
	const clients = 1000
	l := benchLoop(b, "posts-http", schedule.Groups{Size: 1, Pattern: schedule.Pattern{Rate: 5000}}, clients)
	answer := []byte("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nLocation: /post/17\r\n" +
		"Content-Type: application/json\r\n\r\n{}")
	for _, c := range l.clients {
		l.received(c, nil, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		due := l.pool.due()
		c := l.pool.idle[0]
		l.arrive(due)
		l.received(c, answer, due+time.Millisecond)
	}
	if got := l.ledger.Stage(0); got.Received != int64(b.N) || got.Corrupt > 0 {
		b.Fatalf("%+v", got)
	}
}
