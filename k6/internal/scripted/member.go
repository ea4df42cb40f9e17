package scripted

import (
	"errors"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/pushbench/pushbench/k6/internal/msgpack"
)

// member is a client.
type member struct {
	mu     sync.Mutex
	conn   *websocket.Conn
	packed bool               // speaks MessagePack, which is handled as JSON here
	held   map[*member][]byte // by sender: the delivery that goes out after the next one
}

func (m *member) read() ([]byte, error) {
	kind, text, err := m.conn.ReadMessage()
	if err != nil || !m.packed {
		return text, err
	}
	text, ok := msgpack.AppendJSON(nil, text)
	if !ok || kind != websocket.BinaryMessage {
		return nil, errors.New("no MessagePack")
	}
	return text, nil
}

func (m *member) write(text []byte) { m.send(m.frame(text)) }

// frame returns the form in which a message is sent.
func (m *member) frame(text []byte) (kind int, message []byte) {
	if !m.packed {
		return websocket.TextMessage, text
	}
	message, _ = msgpack.Append(nil, text) // clients sent it, so it is valid
	return websocket.BinaryMessage, message
}

func (m *member) send(kind int, message []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.conn.WriteMessage(kind, message)
}

func (m *member) hold(sender *member, text []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[sender] != nil {
		return false
	}
	m.held[sender] = text
	return true
}

func (m *member) release(sender *member) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.held[sender]
	delete(m.held, sender)
	return held
}
