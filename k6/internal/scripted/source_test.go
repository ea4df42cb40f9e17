package scripted

import (
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func TestEachMemberReceivesWhatTheSourceSends(t *testing.T) {
	const clients, boardSize = 4, 2
	server, err := Start("127.0.0.1:0", Faults{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var members []*websocket.Conn
	for number := range clients {
		conn, response, err := websocket.DefaultDialer.Dial(server.URL()+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		defer func() { _ = conn.Close() }()
		if err := conn.WriteMessage(websocket.TextMessage, Join(number, boardSize)); err != nil {
			t.Fatal(err)
		}
		if _, joined, err := conn.ReadMessage(); err != nil || !strings.Contains(string(joined), `"joined"`) {
			t.Fatalf("client %d read %q, %v, want an acknowledgement", number, joined, err)
		}
		members = append(members, conn)
	}
	stop, ended := make(chan struct{}), make(chan error)
	go func() { ended <- server.Source(clients, boardSize, stop) }()
	for number, conn := range members {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		for range boardSize {
			kind, draw, err := conn.ReadMessage()
			if err != nil || kind != websocket.TextMessage || !strings.Contains(string(draw), `"sentAt":`) {
				t.Errorf("client %d read %q of kind %d, %v, want a draw", number, draw, kind, err)
			}
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
