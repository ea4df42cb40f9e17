package protocol

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/wire"
)

const socketIOOpen = `0{"sid":"a","upgrades":[],"pingInterval":300,"pingTimeout":200,"maxPayload":65536}`

// socketIOMember returns a session that is a member, and what it has sent so far.
func socketIOMember(t *testing.T) (Conversation, *[]string) {
	t.Helper()
	s, sent := session(t, "whiteboard-socketio"), &[]string{}
	send := func(payload []byte) { *sent = append(*sent, string(payload)) }
	if s.Open(send) {
		t.Error("a client may join before the server has spoken")
	}
	if got := receive(s, socketIOOpen, send); got.Patience != 500*time.Millisecond || got.Kind != Nothing {
		t.Errorf("open: %+v", got)
	}
	if got := receive(s, `40{"sid":"b"}`, send); got.Kind != Ready {
		t.Errorf("connected: %+v", got)
	}
	s.Join(send)
	joined := `430[{"type":"joined","boardId":"b-17","userId":"u-42"}]`
	if got := receive(s, joined, send); got.Kind != Joined || got.Sender != me.Client {
		t.Errorf("joined: %+v", got)
	}
	return s, sent
}

func TestSocketIOClientsConnectTheNamespaceAndJoinWithAnAcknowledgement(t *testing.T) {
	s, sent := socketIOMember(t)
	send := func(payload []byte) { *sent = append(*sent, string(payload)) }
	if got := receive(s, "2", send); got.Patience != 500*time.Millisecond {
		t.Errorf("ping: %+v", got)
	}
	s.Join(send)
	s.Leave(send)
	want := []string{
		"40", `420["join",{"type":"join","boardId":"b-17","userId":"u-42"}]`, "3",
		`421["join",{"type":"join","boardId":"b-17","userId":"u-42"}]`,
		`42["leave",{"type":"leave","boardId":"b-17","userId":"u-42"}]`, "41",
	}
	if !slices.Equal(*sent, want) {
		t.Errorf("%q", *sent)
	}
}

func TestEventsOfSocketIOAreUnderstood(t *testing.T) {
	s, _ := socketIOMember(t)
	draw := string(s.Message(nil, 7, 123_456*time.Microsecond))
	if got := receive(s, draw, nil); got.Kind != Delivery || got.Sender != 42 || got.Seq != 7 {
		t.Errorf("%s: %+v", draw, got)
	}
	if got := receive(s, `42["error",{"type":"error","reason":"no"}]`, nil); got.Kind != Refused || got.Reason != "no" {
		t.Errorf("error: %+v", got)
	}
	for text, want := range map[string]string{
		strings.Replace(draw, "[[412", "[[413", 1):   "an altered stroke",
		strings.Replace(draw, `"draw"`, `"drew"`, 1): `an event "drew" with the body`,
		strings.Replace(draw, "42[", "427[", 1):      `an event "draw" with the body`,
		`42["draw",{"type":"error","reason":"no"}]`:  `an event "draw" with the body`,
		`42["draw"]`:                "no JSON",
		draw[:len(draw)-1] + ",{}]": "no JSON",
		`430[{"type":"joined"}]`:    "a second acknowledgement of event 0",
		`439[{"type":"joined"}]`:    "an acknowledgement of event 9, which asked for none",
		`42["joined",{"type":"joined","boardId":"b-17","userId":"u-42"}]`: `an event "joined" with the body`,
	} {
		if got := receive(s, text, nil); got.Kind != Corrupt || !strings.HasPrefix(got.Reason, want) {
			t.Errorf("%s: %+v, expected %s", text, got, want)
		}
	}
	s.Join(func([]byte) {})
	if got := receive(s, `431[{"type":"joined","boardId":"b-17","userId":"u-4"}]`, nil); got.Kind != Corrupt {
		t.Errorf("another's join: %+v", got)
	}
}

func TestAServerThatBreaksSocketIOIsFailed(t *testing.T) {
	for text, want := range map[string]string{
		`451-["draw",{}]`: "a binary packet, where only text is spoken",
		"47":              `a packet of the unknown type "7"`,
		socketIOOpen:      "an open packet has to be the first packet, and no other",
	} {
		s, _ := socketIOMember(t)
		if got := receive(s, text, nil); got.Kind != Broken || got.Reason != want {
			t.Errorf("%s: %+v, expected %s", text, got, want)
		}
	}
	for _, text := range []string{"41", "1"} {
		s, _ := socketIOMember(t)
		if got := receive(s, text, nil); got.Kind != Closed {
			t.Errorf("%s: %+v", text, got)
		}
	}
	s := session(t, "whiteboard-socketio")
	receive(s, socketIOOpen, func([]byte) {})
	if got := receive(s, `44{"message":"no"}`, nil); got.Kind != Broken || !strings.Contains(got.Reason, "no") {
		t.Errorf("a refused namespace: %+v", got)
	}
}

func TestABinaryMessageAndABrokenOneEndTheSession(t *testing.T) {
	found, err := Find("whiteboard-socketio")
	if err != nil {
		t.Fatal(err)
	}
	target, err := found.Target("http://127.0.0.1:9/")
	if err != nil || target.String() != "http://127.0.0.1:9/socket.io/?EIO=4&transport=websocket" {
		t.Fatalf("%v, %v", target, err)
	}
	for want, frame := range map[string][]byte{
		"a binary message, where only text is spoken":             {0x80 | wire.Binary, 1, 'x'},
		"an open packet has to be the first packet, and no other": {0x80 | wire.Text, 1, '2'},
	} {
		session := found.NewSession(target, me).(*webSocket)
		session.reader = wire.Reader{}
		var event Event
		if _, err := session.Next(frame, &event); err == nil || err.Error() != want {
			t.Errorf("%+v, %v, expected %s", event, err, want)
		}
	}
}
