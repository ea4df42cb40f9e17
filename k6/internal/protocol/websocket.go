package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/msgpack"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

// Send writes one payload to the server; the slice may be reused once it returns.
type Send func(payload []byte)

// Conversation is one client's side of an exchange of WebSocket messages.
type Conversation interface {
	// Open starts the conversation once connected. It reports whether the client may join at once.
	Open(send Send) (ready bool)
	// Join asks for membership. It reports whether the client has it at once; otherwise it may be repeated until the
	// server acknowledges.
	Join(send Send) (member bool)
	// Receive reads one payload, which it does not keep, and fills in an empty event. After a Broken event the session
	// ends with an error.
	Receive(payload []byte, send Send, event *Event)
	// Message appends a message of the suite to buf.
	Message(buf []byte, seq uint32, due time.Duration) []byte
	// Leave sends a request to leave. It reports whether the client may close the connection at once; otherwise the client
	// closes after a Left event.
	Leave(send Send) (left bool)
}

// webSocket is a session over a WebSocket.
type webSocket struct {
	conversation Conversation
	ready        bool // Ready is due without further bytes; member likewise for Joined
	member       bool
	leaving      bool // the server has yet to acknowledge that the client leaves
	closing      bool // the client closes after that acknowledgement
	reader       wire.Reader
	separator    []byte
	rest         []byte // the rest of a frame, which is due without further bytes
	send         Send   // appends to reply
	reply        []byte
	handshake    *wire.Handshake // nil once its request is sent

	packed bool   // messages are MessagePack in binary frames; the conversation uses JSON
	heard  []byte // the JSON of the last message received, if packed
	told   []byte // the JSON of the last message sent, if packed
}

func newWebSocket(target *url.URL, subprotocols string, header http.Header, conversation Conversation) *webSocket {
	handshake := wire.NewHandshake(target, subprotocols, header)
	w := &webSocket{conversation: conversation, handshake: &handshake, reader: wire.NewReader(&handshake)}
	w.send = func(payload []byte) {
		from := len(w.reply)
		w.reply = w.enclose(append(w.reply, payload...), from)
	}
	return w
}

// Open implements Session, as do the methods below.
func (w *webSocket) Open(buf []byte) []byte {
	buf = append(buf, w.handshake.Request...)
	w.handshake = nil
	return buf
}

func (w *webSocket) Next(data []byte, event *Event) (int, error) {
	*event = Event{}
	if w.ready {
		w.ready, event.Kind = false, Ready
		return 0, nil
	}
	if w.member {
		w.member, event.Kind = false, Joined
		return 0, nil
	}
	found, n := wire.Event{Kind: wire.Payload, Data: w.rest}, 0
	if len(w.rest) == 0 {
		var err error
		if found, n, err = w.reader.Next(data); err != nil || found.Kind == wire.Nothing {
			return n, err
		}
	}
	w.understand(found, event)
	if event.Kind == Broken {
		return n, errors.New(event.Reason)
	}
	if len(w.reply) > 0 {
		event.Reply, w.reply = w.reply, w.reply[:0]
	}
	return n, nil
}

func (w *webSocket) understand(found wire.Event, event *Event) {
	switch found.Kind {
	case wire.Payload:
		if w.packed {
			event.breakOff("a text message, where only binary ones are spoken")
			break
		}
		w.conversation.Receive(w.first(found.Data), w.send, event)
	case wire.Bytes:
		if !w.packed {
			event.breakOff("a binary message, where only text is spoken")
			break
		}
		w.conversation.Receive(w.unpacked(found.Data), w.send, event)
	case wire.Pinged:
		w.reply = wire.Append(w.reply, wire.Pong, mask(), found.Data)
	case wire.Ponged:
		ponged(found.Data, event)
	case wire.Closed:
		w.reply = wire.Append(w.reply, wire.Close, mask(), found.Data[:min(2, len(found.Data))])
		event.Kind, event.Reason = Closed, "server closed with "+strconv.Itoa(wire.CloseCode(found.Data))
	case wire.Opened:
		event.Kind, w.ready = Opened, w.conversation.Open(w.send)
	}
	switch event.Kind {
	case Nothing:
		event.Kind = Other
	case Left:
		if w.leaving = false; w.closing {
			w.reply = appendClose(w.reply)
		}
	}
}

// enclose turns buf[from:] into a frame.
func (w *webSocket) enclose(buf []byte, from int) []byte {
	if !w.packed {
		return wire.Enclose(buf, from, wire.Text, mask())
	}
	w.told = append(w.told[:0], buf[from:]...)
	buf, _ = msgpack.Append(buf[:from], w.told) // the templates of a declaration are JSON
	return wire.Enclose(buf, from, wire.Binary, mask())
}

// unpacked returns a message as JSON. If it is not MessagePack, it is returned unchanged, and then it is not JSON
// either.
func (w *webSocket) unpacked(data []byte) []byte {
	text, ok := msgpack.AppendJSON(w.heard[:0], data)
	if w.heard = text; !ok {
		return data
	}
	return text
}

// first returns the first message of a frame. The rest stays in the reader's buffer, and the reader is not called until
// the rest is taken.
func (w *webSocket) first(payload []byte) []byte {
	if len(w.separator) > 0 {
		payload, w.rest, _ = bytes.Cut(payload, w.separator)
	}
	return payload
}

func (w *webSocket) Join(buf []byte) []byte {
	w.member = w.conversation.Join(w.send)
	return w.said(buf)
}

func (w *webSocket) Leave(buf []byte) []byte {
	w.leaving = !w.conversation.Leave(w.send)
	return w.said(buf)
}

// said appends the messages that the conversation sent.
func (w *webSocket) said(buf []byte) []byte {
	buf = append(buf, w.reply...)
	w.reply = w.reply[:0]
	return buf
}

func (w *webSocket) Message(buf []byte, seq uint32, due time.Duration) []byte {
	return w.enclose(w.conversation.Message(buf, seq, due), len(buf))
}

// Ask implements Asker.
func (w *webSocket) Ask(buf []byte, beside int, seq uint32, due time.Duration) []byte {
	if beside > 0 {
		return wire.Enclose(w.conversation.(Asker).Ask(buf, beside, seq, due), len(buf), wire.Text, mask())
	}
	return wire.Append(buf, wire.Ping, mask(), binary.BigEndian.AppendUint32([]byte(pingMark), seq))
}

// Poll implements Poller.
func (w *webSocket) Poll(buf []byte) []byte {
	w.conversation.(poller).poll(w.send)
	return w.said(buf)
}

// poller is a conversation with something to send at times of its own choice.
type poller interface {
	poll(send Send)
}

// player is a conversation whose client is a member of groups that the server names.
type player interface {
	enter(send Send, group string)
	game() (messages int)
}

// Enter implements Player, as does Game.
func (w *webSocket) Enter(buf []byte, group string) []byte {
	w.conversation.(player).enter(w.send, group)
	return w.said(buf)
}

func (w *webSocket) Game() int { return w.conversation.(player).game() }

// pingMark begins the payload of the client's pings; a pong with another payload is unsolicited, which RFC 6455, 5.5.3,
// permits.
const pingMark = "ping"

// ponged interprets the payload of a pong.
func ponged(data []byte, event *Event) {
	if rest, ok := bytes.CutPrefix(data, []byte(pingMark)); ok && len(rest) == 4 {
		event.Kind, event.Beside, event.Seq = Answer, 0, binary.BigEndian.Uint32(rest)
	}
}

func (w *webSocket) End(*Event) error { return io.EOF }

func (w *webSocket) Close(buf []byte) []byte {
	if w.leaving {
		w.closing = true
		return buf
	}
	return appendClose(buf)
}

func appendClose(buf []byte) []byte {
	return wire.Append(buf, wire.Close, mask(), []byte{0x03, 0xe8}) // 1000, normal closure
}

// mask returns the masking key of a client frame. Only proxies must be unable to predict it, and there are none.
func mask() uint32 { return rand.Uint32() }
