package protocol

import (
	"fmt"
	"time"

	"github.com/pushbench/pushbench/k6/internal/socketio"
)

func init() {
	register("whiteboard-socketio", Protocol{
		path: "/socket.io/", query: "EIO=4&transport=websocket", NewConversation: newWhiteboardSocketIO,
	})
}

// whiteboardSocketIO is the protocol whiteboard-socketio: the same messages as events of Socket.IO. Joins request an
// acknowledgement.
type whiteboardSocketIO struct {
	draw
	id   Identity
	link socketio.Link
	acks socketio.Acks
	buf  []byte
}

func newWhiteboardSocketIO(id Identity) Conversation {
	return &whiteboardSocketIO{draw: newDraw(id), id: id}
}

// Open implements Conversation, as do the methods below. The server speaks first.
func (w *whiteboardSocketIO) Open(Send) bool { return false }

func (w *whiteboardSocketIO) Join(send Send) bool {
	w.say(send, "join", w.acks.Ask())
	return false
}

func (w *whiteboardSocketIO) Leave(send Send) bool {
	w.say(send, "leave", socketio.NoID)
	send(socketio.AppendDisconnect(nil))
	return true
}

func (w *whiteboardSocketIO) say(send Send, verb string, id int64) {
	w.buf = membership(socketio.AppendEvent(w.buf[:0], verb, id), verb, w.id)
	send(socketio.AppendEnd(w.buf))
}

func (w *whiteboardSocketIO) Message(buf []byte, seq uint32, sentAt time.Duration) []byte {
	buf = socketio.AppendEvent(buf, "draw", socketio.NoID)
	return socketio.AppendEnd(w.append(buf, w.id.Client, seq, sentAt))
}

func (w *whiteboardSocketIO) Receive(payload []byte, send Send, event *Event) {
	packet, err := w.link.Receive(payload, send)
	if err != nil {
		event.breakOff(err.Error())
		return
	}
	switch packet.Kind {
	case socketio.Event:
		w.heard(packet, event)
	case socketio.Open, socketio.Ping:
		event.Patience = w.link.Patience()
	case socketio.Connect:
		event.Kind = Ready
	case socketio.Ack:
		w.acknowledged(packet, event)
	case socketio.ConnectError:
		event.breakOff(fmt.Sprintf("the namespace is refused: %.80q", packet.Data))
	case socketio.Close, socketio.Disconnect:
		event.Kind, event.Reason = Closed, "server closed the connection of Socket.IO"
	case socketio.Noop:
	}
}

// heard interprets an event, whose name has to be the type of its body.
func (w *whiteboardSocketIO) heard(packet socketio.Packet, event *Event) {
	if w.parse(packet.Data, event); event.Kind == Corrupt {
		return
	}
	var named Kind
	switch string(packet.Name) {
	case "draw":
		named = Delivery
	case "error":
		named = Refused
	}
	if named != event.Kind || packet.ID != socketio.NoID {
		event.corrupt("an event %.40q with the body %.60q", packet.Name, packet.Data)
	}
}

// acknowledged interprets the answer to a join.
func (w *whiteboardSocketIO) acknowledged(packet socketio.Packet, event *Event) {
	if err := w.acks.Answered(packet.ID); err != nil {
		event.corrupt("%s", err)
		return
	}
	w.parse(packet.Data, event)
	if event.Kind != Joined || event.Sender != w.id.Client {
		event.corrupt("an acknowledgement of a join with %.60q", packet.Data)
	}
}
