package protocol

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/socketio"
)

func init() {
	register("typing-game-socketio", Protocol{
		path: "/socket.io/", query: "EIO=4&transport=websocket", NewConversation: newTypingGame, Matched: true,
		newAside: newMatchmaking, asks: []string{"ping"},
	})
}

// pingKind is the index of the ping in Protocol.Beside, after the ping of the WebSocket.
const pingKind = 1

// typingGame is the protocol typing-game-socketio: games of keystrokes, one after the other, as events of Socket.IO.
// Its acknowledgement ids are even for joins and odd for pings.
type typingGame struct {
	keystrokes
	link    socketio.Link
	joins   int64  // joins requested so far
	asked   string // the room of the last join, until it is answered
	started bool   // the current game has begun
	buf     []byte
}

func newTypingGame(id Identity) Conversation {
	t := &typingGame{keystrokes: newKeystrokes(id)}
	t.leave()
	return t
}

// Open implements Conversation, as do the methods below. The server speaks first, and the client enters rooms one by
// one.
func (t *typingGame) Open(Send) bool { return false }
func (t *typingGame) Join(Send) bool { return false }

func (t *typingGame) Leave(send Send) bool {
	send(socketio.AppendDisconnect(nil))
	return true
}

func (t *typingGame) enter(send Send, group string) {
	t.asked = group
	t.buf = socketio.AppendEvent(t.buf[:0], "pvp:join", 2*t.joins)
	t.joins++
	t.buf = fmt.Appendf(t.buf, `{"roomId":%q,"userId":%q}`, group, t.user())
	send(socketio.AppendEnd(t.buf))
}

func (t *typingGame) game() int { return keysOf(t.id.Client, len(t.text)) }

func (t *typingGame) Message(buf []byte, seq uint32, due time.Duration) []byte {
	buf = socketio.AppendEvent(buf, "pvp:keystrokes", socketio.NoID)
	return socketio.AppendEnd(t.append(buf, seq, due))
}

// Ask implements Asker.
func (t *typingGame) Ask(buf []byte, _ int, seq uint32, due time.Duration) []byte {
	buf = append(socketio.AppendEvent(buf, "ping", 2*int64(seq)+1), `{"sentAt":`...)
	buf = append(strconv.AppendInt(buf, t.epoch+due.Microseconds(), 10), '}')
	return socketio.AppendEnd(buf)
}

func (t *typingGame) Receive(payload []byte, send Send, event *Event) {
	packet, err := t.link.Receive(payload, send)
	if err != nil {
		event.breakOff(err.Error())
		return
	}
	switch packet.Kind {
	case socketio.Event:
		t.heard(packet, event)
	case socketio.Open, socketio.Ping:
		event.Patience = t.link.Patience()
	case socketio.Connect:
		event.Kind = Ready
	case socketio.Ack:
		if packet.ID%2 == 1 {
			t.ponged(packet, event)
		} else {
			t.admitted(packet, event)
		}
	case socketio.ConnectError:
		event.breakOff(fmt.Sprintf("the namespace is refused: %.80q", packet.Data))
	case socketio.Close, socketio.Disconnect:
		event.Kind, event.Reason = Closed, "server closed the connection of Socket.IO"
	case socketio.Noop:
	}
}

// heard interprets an event.
func (t *typingGame) heard(packet socketio.Packet, event *Event) {
	if packet.ID != socketio.NoID {
		event.corrupt("an event %.40q that asks for an acknowledgement", packet.Name)
		return
	}
	switch string(packet.Name) {
	case "pvp:state":
		t.parse(packet.Data, event)
	case "pvp:error":
		var said struct{ Reason string }
		if err := json.Unmarshal(packet.Data, &said); err != nil || said.Reason == "" {
			event.corrupt("an error without a reason: %.60q", packet.Data)
			return
		}
		event.refuse(said.Reason)
	default:
		t.course(packet, event)
	}
}

// course interprets an event that is sent to the whole room.
func (t *typingGame) course(packet socketio.Packet, event *Event) {
	var said struct {
		RoomID          string
		Players, Places []string
		Milliseconds    int64
	}
	err := json.Unmarshal(packet.Data, &said)
	if err != nil || said.RoomID != t.room || t.room == "" {
		event.corrupt("%.20q with %.60q to a client in %.40q", packet.Name, packet.Data, t.room)
		return
	}
	switch string(packet.Name) {
	case "pvp:countdown":
		if err := t.among(said.Players); err != nil || t.started {
			event.corrupt("a countdown of %.60q, started %t: %v", said.Players, t.started, err)
		}
	case "pvp:start":
		if t.started {
			event.corrupt("a second start of a game")
			return
		}
		t.started, event.Kind = true, Begun
	case "pvp:over":
		if err := t.among(said.Places); err != nil || !t.started {
			event.corrupt("an end with places %.60q, started %t: %v", said.Places, t.started, err)
			return
		}
		t.leave()
		event.Kind = Over
	default:
		event.corrupt("an event %.40q", packet.Name)
	}
}

// admitted interprets the answer to a join.
func (t *typingGame) admitted(packet socketio.Packet, event *Event) {
	if packet.ID != 2*(t.joins-1) || t.asked == "" {
		event.corrupt("an acknowledgement of event %d, which waits for none", packet.ID)
		return
	}
	asked := t.asked
	t.asked = ""
	var said struct{ RoomID, UserID, Text, Error string }
	if err := json.Unmarshal(packet.Data, &said); err == nil && said.Error != "" {
		event.Kind, event.Reason = Denied, said.Error
		return
	}
	text := []rune(said.Text)
	if said.RoomID != asked || said.UserID != t.user() || len(text) != t.id.Length {
		event.corrupt("an acknowledgement of a join of %.40q with %.60q", asked, packet.Data)
		return
	}
	t.started = false
	t.begin(asked, text)
	event.Kind = Joined
}

// ponged interprets the answer to a ping.
func (t *typingGame) ponged(packet socketio.Packet, event *Event) {
	var said struct{ SentAt int64 }
	if err := json.Unmarshal(packet.Data, &said); err != nil {
		event.corrupt("an acknowledgement of a ping with %.60q", packet.Data)
		return
	}
	event.Kind, event.Beside, event.Seq = Answer, pingKind, uint32(packet.ID/2)
	event.SentAt = max(1, time.Duration(said.SentAt-t.epoch)*time.Microsecond)
}
