package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/wire"
)

var me = Identity{Group: "b-17", Client: 42, Epoch: time.UnixMicro(1_764_000_000_000_000)}

// drawOf returns what the session sends, without the frame of its protocol.
func drawOf(t *testing.T, session Conversation) string {
	t.Helper()
	text := string(session.Message(nil, 7, 123_456*time.Microsecond))
	return text[strings.Index(text, "{") : strings.LastIndex(text, "}")+1]
}

func session(t *testing.T, name string) Conversation {
	t.Helper()
	found, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return found.NewConversation(me)
}

// receive returns the event that the session makes of a payload.
func receive(session Conversation, payload string, send Send) (event Event) {
	session.Receive([]byte(payload), send, &event)
	return event
}

func TestADrawIsTheDocumentedMessage(t *testing.T) {
	for _, name := range []string{"whiteboard-json", "whiteboard-socketio", "whiteboard-stomp"} {
		text := drawOf(t, session(t, name))
		var draw struct {
			Type, BoardID, UserID string
			Seq, SentAt           int64
			Stroke                [][2]float64
		}
		if err := json.Unmarshal([]byte(text), &draw); err != nil {
			t.Fatal(err)
		}
		if draw.Type != "draw" || draw.BoardID != "b-17" || draw.UserID != "u-42" || draw.Seq != 7 ||
			draw.SentAt != 1_764_000_000_123_456 || len(draw.Stroke) != 20 {
			t.Errorf("%s: %+v", name, draw)
		}
		if len(text) < 250 || len(text) > 400 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func TestADrawIsUnderstoodByteForByteAndAsEqualJSON(t *testing.T) {
	want := Event{Kind: Delivery, Sender: 42, Seq: 7, SentAt: 123_456 * time.Microsecond}
	s := session(t, "whiteboard-json")
	text := drawOf(t, s)
	var parsed map[string]any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	spaced, err := json.MarshalIndent(map[string]any{
		"stroke": parsed["stroke"], "sentAt": 1_764_000_000_123_456, "seq": 7, "userId": "u-42", "boardId": "b-17",
		"type": "draw",
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, received := range []string{text, string(spaced)} {
		if got := receive(s, received, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", received, got)
		}
	}
}

func TestAnotherContentIsCorrupt(t *testing.T) {
	s := session(t, "whiteboard-json")
	text := drawOf(t, s)
	for _, received := range []string{
		strings.Replace(text, "[[412", "[[413", 1), strings.Replace(text, "b-17", "b-18", 1), text[:len(text)-1], "",
		"[]", "{}",
		strings.Replace(text, "u-42", "nobody", 1),
	} {
		if got := receive(s, received, nil); got.Kind != Corrupt {
			t.Errorf("%q: %+v", received, got)
		}
	}
}

func TestJSONClientsJoinAtOnceAndHearOfErrors(t *testing.T) {
	s := session(t, "whiteboard-json")
	var sent []string
	send := func(payload []byte) { sent = append(sent, string(payload)) }
	if !s.Open(send) {
		t.Error("a client that may join has to wait")
	}
	s.Join(send)
	s.Leave(send)
	want := []string{`{"type":"join","boardId":"b-17","userId":"u-42"}`,
		`{"type":"leave","boardId":"b-17","userId":"u-42"}`}
	if strings.Join(sent, " ") != strings.Join(want, " ") {
		t.Errorf("%q", sent)
	}
	if got := receive(s, `{"type":"joined","boardId":"b-17","userId":"u-42"}`, send); got.Kind != Joined {
		t.Errorf("joined: %+v", got)
	}
	if got := receive(s, `{"type":"error","reason":"no"}`, send); got.Kind != Refused || got.Reason != "no" {
		t.Errorf("error: %+v", got)
	}
}

func TestSTOMPClientsSubscribeAndJoinThroughTheirBoard(t *testing.T) {
	s := session(t, "whiteboard-stomp")
	var sent []string
	send := func(payload []byte) { sent = append(sent, string(payload)) }
	if ready := s.Open(send); ready || !strings.HasPrefix(sent[0], "CONNECT\n") {
		t.Errorf("open: %t, %q", ready, sent)
	}
	if got := receive(s, "CONNECTED\nversion:1.2\n\n\x00", send); got.Kind != Ready {
		t.Errorf("connected: %+v", got)
	}
	if len(sent) != 3 || !strings.Contains(sent[1], "/user/queue/errors") ||
		!strings.Contains(sent[2], "/topic/board.b-17") {
		t.Fatalf("%q", sent)
	}
	s.Join(send)
	_, body, _ := strings.Cut(sent[3], "\n\n")
	message := func(body string) string {
		return "MESSAGE\ndestination:/topic/board.b-17\nsubscription:board\nmessage-id:1\n\n" + body + "\x00"
	}
	if got := receive(s, message(strings.TrimSuffix(body, "\x00")), send); got.Kind != Joined {
		t.Errorf("own join: %+v", got)
	}
	if got := receive(s, message(`{"type":"join","boardId":"b-17","userId":"u-1"}`), send); got.Kind != Nothing {
		t.Errorf("another's join: %+v", got)
	}
	if got := receive(s, message(drawOf(t, s)), send); got.Kind != Delivery || got.Sender != 42 || got.Seq != 7 {
		t.Errorf("draw: %+v", got)
	}
	if got := receive(s, "\n", send); got.Kind != Nothing {
		t.Errorf("heart-beat: %+v", got)
	}
	if got := receive(s, "ERROR\nmessage:bad\n\n\x00", send); got.Kind != Refused {
		t.Errorf("error: %+v", got)
	}
}

func TestSTOMPClientsCloseOnceTheirDisconnectIsAcknowledged(t *testing.T) {
	for _, name := range []string{"whiteboard-stomp", "location-stomp"} {
		s := newWebSocket(&url.URL{Host: "h"}, "", nil, session(t, name))
		if left := unmask(s.Leave(nil)); !strings.Contains(left, "DISCONNECT\nreceipt:bye\n\n\x00") {
			t.Errorf("%s: %q", name, left)
		}
		if closed := s.Close(nil); len(closed) > 0 {
			t.Errorf("%s: closes without a receipt: %q", name, closed)
		}
		var event Event
		s.understand(wire.Event{Kind: wire.Payload, Data: []byte("RECEIPT\nreceipt-id:bye\n\n\x00")}, &event)
		if event.Kind != Left || len(s.reply) == 0 || s.reply[0] != 0x88 {
			t.Errorf("%s: %+v, %q", name, event, s.reply)
		}
	}
}

func TestClientsCloseAtOnceWhereNothingIsAcknowledged(t *testing.T) {
	for _, name := range []string{"whiteboard-json", "whiteboard-socketio", "location-websocket", "typing-game-socketio"} {
		s := newWebSocket(&url.URL{Host: "h"}, "", nil, session(t, name))
		s.Leave(nil)
		if closed := s.Close(nil); len(closed) == 0 || closed[0] != 0x88 {
			t.Errorf("%s: %q", name, closed)
		}
	}
	never := newWebSocket(&url.URL{Host: "h"}, "", nil, session(t, "whiteboard-stomp"))
	if closed := never.Close(nil); len(closed) == 0 {
		t.Error("a client that was no member waits for the receipt of a DISCONNECT that it did not send")
	}
}

func TestUnknownNamesAndAddressesAreRefusedWithWhatIsKnown(t *testing.T) {
	if _, err := Find("morse"); err == nil || !strings.Contains(err.Error(), "whiteboard-json") {
		t.Errorf("%v", err)
	}
	found, _ := Find("whiteboard-json")
	for _, url := range []string{"", "127.0.0.1:80", "ftp://localhost", "::"} {
		if _, err := found.Target(url); err == nil {
			t.Errorf("%q: accepted", url)
		}
	}
	if target, err := found.Target("http://127.0.0.1:8080/"); err != nil ||
		target.String() != "http://127.0.0.1:8080/ws" {
		t.Errorf("%v, %v", target, err)
	}
}

func FuzzReceiveNeverPanics(f *testing.F) {
	f.Add([]byte(`{"type":"draw"}`))
	f.Add([]byte("MESSAGE\n\n{}\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		receive(newWhiteboard(me), string(data), func([]byte) {})
		receive(newWhiteboardStomp(me), string(data), func([]byte) {})
		connected := newWhiteboardSocketIO(me)
		for _, payload := range []string{socketIOOpen, "40", string(data)} {
			receive(connected, payload, func([]byte) {})
		}
	})
}

// shouting is a conversation with an exchange of its own beside the first.
type shouting struct{ Conversation }

func (shouting) Ask(buf []byte, beside int, seq uint32, _ time.Duration) []byte {
	return fmt.Appendf(buf, "shout %d of kind %d", seq, beside)
}

func TestAProtocolHasExchangesOfItsOwnBesidePings(t *testing.T) {
	p := Protocol{asks: []string{"shout"}, NewConversation: func(id Identity) Conversation {
		return shouting{newWhiteboard(id)}
	}}
	if got := p.Beside(); !slices.Equal(got, []string{PingExchange, "shout"}) {
		t.Errorf("got %v", got)
	}
	target, err := p.Target("http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	asker := p.NewSession(target, me).(Asker)
	for kind, want := range []string{"ping\x00\x00\x00\x07", "shout 7 of kind 1"} {
		sent, opcode := asker.Ask([]byte("before"), kind, 7, 0), []byte{wire.Ping, wire.Text}[kind]
		if !bytes.HasPrefix(sent, []byte("before")) {
			t.Fatalf("%q", sent)
		}
		frame := sent[len("before"):]
		if got := unmask(frame); frame[0] != 0x80|opcode || got != want {
			t.Errorf("kind %d: opcode %x, %q, expected %q", kind, frame[0], got, want)
		}
	}
}

// unmask returns the payload of a short frame of a client.
func unmask(frame []byte) string {
	key, payload := frame[2:6], bytes.Clone(frame[6:])
	for i := range payload {
		payload[i] ^= key[i%4]
	}
	return string(payload)
}

func TestAPongThatNobodyAskedForMeansNothing(t *testing.T) {
	for data, want := range map[string]Event{
		"ping\x00\x00\x01\x00": {Kind: Answer, Seq: 256},
		"ping":                 {}, "ping\x00\x00\x00\x00\x00": {}, "": {}, "heartbeat": {},
	} {
		var got Event
		if ponged([]byte(data), &got); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, expected %+v", data, got, want)
		}
	}
}
