package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

func init() {
	register("whiteboard-stomp", Protocol{
		path: "/stomp", subprotocols: stompSubprotocol, NewConversation: newWhiteboardStomp,
	})
}

const stompSubprotocol = "v12.stomp"

// stomp reads and writes the STOMP 1.2 frames of one member of a group, one per WebSocket message.
type stomp struct {
	head         []byte // the head of a SEND frame, up to the content's length
	subscription []byte // a complete frame
}

// newStomp returns the frames of members that send to /app/<destination> and receive from /topic/<destination>.
func newStomp(destination, subscription string) stomp {
	return stomp{
		sendHead(destination),
		fmt.Appendf(nil, "SUBSCRIBE\nid:%s\ndestination:/topic/%s\n\n\x00", subscription, destination),
	}
}

func sendHead(destination string) []byte {
	return fmt.Appendf(nil, "SEND\ndestination:/app/%s\ncontent-type:application/json\ncontent-length:", destination)
}

// sendFrame appends a SEND frame.
func sendFrame(buf, head, body []byte) []byte {
	buf = strconv.AppendInt(append(buf, head...), int64(len(body)), 10)
	buf = append(append(buf, "\n\n"...), body...)
	return append(buf, 0)
}

func (s *stomp) frame(buf, body []byte) []byte { return sendFrame(buf, s.head, body) }

// Open implements Conversation.
func (s *stomp) Open(send Send) bool {
	send([]byte("CONNECT\naccept-version:1.2\nheart-beat:0,0\nhost:push\n\n\x00"))
	return false
}

// Leave implements Conversation. As the specification recommends, the client closes once the server has acknowledged
// its DISCONNECT: https://stomp.github.io/stomp-specification-1.2.html#DISCONNECT.
func (s *stomp) Leave(send Send) bool {
	send([]byte("DISCONNECT\nreceipt:bye\n\n\x00"))
	return false
}

// receive interprets a frame. It returns the body of a MESSAGE, which is a message of the suite.
func (s *stomp) receive(payload []byte, send Send, event *Event) (body []byte, message bool) {
	head, body, ok := bytes.Cut(payload, []byte("\n\n"))
	if !ok {
		if len(bytes.TrimSpace(payload)) > 0 { // otherwise it is a heart-beat
			event.corrupt("no STOMP frame: %.60q", payload)
		}
		return nil, false
	}
	body, _, _ = bytes.Cut(body, []byte{0})
	command, _, _ := bytes.Cut(head, []byte("\n"))
	switch string(command) {
	case "MESSAGE":
		return body, true
	case "CONNECTED":
		send([]byte("SUBSCRIBE\nid:errors\ndestination:/user/queue/errors\n\n\x00"))
		send(s.subscription)
		event.Kind = Ready
	case "RECEIPT":
		event.Kind = Left
	case "ERROR":
		event.refuse(string(head))
	}
	return nil, false
}

// whiteboardStomp is the protocol whiteboard-stomp: the same messages in STOMP frames. A simple broker does not
// acknowledge subscriptions, so a client joins by sending a join to itself through its board.
type whiteboardStomp struct {
	draw
	stomp
	id   Identity
	body []byte
}

func newWhiteboardStomp(id Identity) Conversation {
	return &whiteboardStomp{draw: newDraw(id), stomp: newStomp("board."+id.Group, "board"), id: id}
}

func (w *whiteboardStomp) Join(send Send) bool {
	send(w.frame(nil, membership(nil, "join", w.id)))
	return false
}

func (w *whiteboardStomp) Message(buf []byte, seq uint32, sentAt time.Duration) []byte {
	w.body = w.append(w.body[:0], w.id.Client, seq, sentAt)
	return w.frame(buf, w.body)
}

func (w *whiteboardStomp) Receive(payload []byte, send Send, event *Event) {
	if body, ok := w.receive(payload, send, event); ok {
		if w.parse(body, event); event.Kind == Joined && event.Sender != w.id.Client {
			*event = Event{} // another member's join
		}
	}
}
