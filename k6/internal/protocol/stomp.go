package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

func init() {
	register("whiteboard-stomp", Protocol{path: "/stomp", subprotocols: "v12.stomp", NewConversation: newWhiteboardStomp})
}

// whiteboardStomp is the protocol whiteboard-stomp: the same messages in STOMP 1.2 frames, one per WebSocket message. A
// simple broker acknowledges no subscription, so a client joins by sending a join to itself through its board.
type whiteboardStomp struct {
	draw
	id   Identity
	head []byte // of a SEND, up to the content's length
	body []byte
}

func newWhiteboardStomp(id Identity) Conversation {
	head := fmt.Appendf(nil, "SEND\ndestination:/app/board.%s\ncontent-type:application/json\ncontent-length:", id.Group)
	return &whiteboardStomp{draw: newDraw(id), id: id, head: head}
}

func (w *whiteboardStomp) Open(send Send) bool {
	send([]byte("CONNECT\naccept-version:1.2\nheart-beat:0,0\nhost:push\n\n\x00"))
	return false
}

func (w *whiteboardStomp) Join(send Send) {
	send(w.frame(nil, membership(nil, "join", w.id)))
}

func (w *whiteboardStomp) Leave(send Send) {
	send([]byte("DISCONNECT\n\n\x00"))
}

func (w *whiteboardStomp) Message(buf []byte, seq uint32, sentAt time.Duration) []byte {
	w.body = w.append(w.body[:0], w.id.Client, seq, sentAt)
	return w.frame(buf, w.body)
}

func (w *whiteboardStomp) frame(buf, body []byte) []byte {
	buf = strconv.AppendInt(append(buf, w.head...), int64(len(body)), 10)
	buf = append(append(buf, "\n\n"...), body...)
	return append(buf, 0)
}

func (w *whiteboardStomp) Receive(payload []byte, send Send, event *Event) {
	head, body, ok := bytes.Cut(payload, []byte("\n\n"))
	if !ok {
		if len(bytes.TrimSpace(payload)) > 0 { // or else it is a heart-beat
			event.corrupt("no STOMP frame: %.60q", payload)
		}
		return
	}
	body, _, _ = bytes.Cut(body, []byte{0})
	command, _, _ := bytes.Cut(head, []byte("\n"))
	switch string(command) {
	case "MESSAGE":
		w.parse(body, event)
		if event.Kind == Joined && event.Sender != w.id.Client {
			*event = Event{} // another member's join
		}
	case "CONNECTED":
		send([]byte("SUBSCRIBE\nid:errors\ndestination:/user/queue/errors\n\n\x00"))
		send(fmt.Appendf(nil, "SUBSCRIBE\nid:board\ndestination:/topic/board.%s\n\n\x00", w.id.Group))
		event.Kind = Ready
	case "ERROR":
		event.refuse(string(head))
	}
}
