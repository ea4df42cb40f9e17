package main

import (
	"net"

	"github.com/gorilla/websocket"

	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// boards lets clients join boards; the server makes the messages itself.
func (f *floor) boards(url string, clients, board int) error {
	f.mark = []byte(`"sentAt":`)
	for client := range clients {
		if err := f.join(url+"/ws", scripted.Join(client, board)); err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) join(url string, join []byte) error {
	conn, response, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	defer func() { _ = conn.Close() }()
	if err := conn.WriteMessage(websocket.TextMessage, join); err != nil {
		return err
	}
	return f.adopt(conn.NetConn().(*net.TCPConn))
}
