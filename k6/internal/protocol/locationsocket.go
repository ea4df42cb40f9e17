package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

func init() {
	register("location-websocket", Protocol{
		Others: true, NewConversation: newLocationSocket,
		locate: func(id Identity) (path, query string) {
			p := newPositions(id)
			return "/groups/" + id.Group + "/socket", "user=" + string(p.user(nil))
		},
	})
	register("location-stomp", Protocol{
		path: "/stomp", subprotocols: stompSubprotocol, Others: true, NewConversation: newLocationStomp,
	})
}

// locationSocket is the protocol location-websocket: the first news makes the client a member.
type locationSocket struct {
	positions
	joined bool
}

func newLocationSocket(id Identity) Conversation {
	return &locationSocket{positions: newPositions(id)}
}

// Open implements Conversation, as do the methods below.
func (l *locationSocket) Open(Send) bool  { return true }
func (l *locationSocket) Join(Send) bool  { return false }
func (l *locationSocket) Leave(Send) bool { return true }

func (l *locationSocket) Message(buf []byte, seq uint32, due time.Duration) []byte {
	return l.position(buf, seq, due)
}

func (l *locationSocket) Receive(payload []byte, _ Send, event *Event) {
	if l.joined {
		l.one(payload, event)
		return
	}
	if _, err := l.read(payload); err != nil {
		event.corrupt("%v", err)
		return
	}
	l.joined, event.Kind = true, Joined // it describes what happened before the client joined
}

// one interprets a message with one position.
func (p *positions) one(text []byte, event *Event) {
	_, err := p.read(text)
	var said struct{ Error string }
	switch {
	case err == nil && len(p.told) == 1:
		p.next(event)
	case err == nil:
		event.corrupt("a message of %d positions", len(p.told))
	case json.Unmarshal(text, &said) == nil && said.Error != "":
		event.refuse(said.Error)
	default:
		event.corrupt("%v", err)
	}
}

// locationStomp is the protocol location-stomp: the same messages in STOMP frames. A simple broker does not acknowledge
// subscriptions, so a client joins by sending a join to itself through its group.
type locationStomp struct {
	positions
	stomp
	join   []byte // a complete frame
	joined []byte // the body that confirms it
	body   []byte
}

func newLocationStomp(id Identity) Conversation {
	destination := "group." + id.Group
	p := newPositions(id)
	body := fmt.Appendf(nil, `{"user":%q}`, p.user(nil))
	return &locationStomp{
		positions: p, stomp: newStomp(destination, "group"),
		join: sendFrame(nil, sendHead(destination+".join"), body), joined: fmt.Appendf(nil, `{"joined":%q}`, p.user(nil)),
	}
}

// Join implements Conversation, as do the methods below.
func (l *locationStomp) Join(send Send) bool {
	send(l.join)
	return false
}

func (l *locationStomp) Message(buf []byte, seq uint32, due time.Duration) []byte {
	l.body = append(l.user(append(l.body[:0], `{"user":"`...)), `",`...)
	l.body = append(l.fields(l.body, seq, due), '}')
	return l.frame(buf, l.body)
}

func (l *locationStomp) Receive(payload []byte, send Send, event *Event) {
	body, ok := l.receive(payload, send, event)
	switch {
	case !ok:
	case bytes.Equal(body, l.joined):
		event.Kind = Joined
	case bytes.HasPrefix(body, []byte(`{"joined":`)): // another member's join
	default:
		l.one(body, event)
	}
}
