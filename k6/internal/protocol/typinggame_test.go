package protocol

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var typist = Identity{Client: 42, Epoch: me.Epoch, Length: 30, Part: 1}

const typistName = "u-1000042"

// atTable returns a conversation that has joined room r-1, and what it has sent.
func atTable(t *testing.T) (*typingGame, *[]string) {
	t.Helper()
	g, sent := newTypingGame(typist).(*typingGame), &[]string{}
	send := func(payload []byte) { *sent = append(*sent, string(payload)) }
	receive(g, socketIOOpen, send)
	if got := receive(g, `40{"sid":"b"}`, send); got.Kind != Ready {
		t.Errorf("connected: %+v", got)
	}
	g.enter(send, "r-1")
	if got := receive(g, admission(0, "r-1"), send); got.Kind != Joined {
		t.Fatalf("joined: %+v", got)
	}
	return g, sent
}

func admission(id int, room string) string {
	const answer = `43%d[{"roomId":%q,"userId":%q,"text":"ab\\\"c\u00e9x text of thirty charact"}]`
	return fmt.Sprintf(answer, id, room, typistName)
}

// stateOf returns what a server sends after key seq of a client.
func stateOf(room string, client int, seq int) string {
	return fmt.Sprintf(`42["pvp:state",{"roomId":%q,"userId":"u-%d","seq":%d,"sentAt":%d,"typed":%d,"mistakes":%d}]`,
		room, partSize+client, seq, me.Epoch.UnixMicro()+5, typed(client, seq+1), mistakes(client, seq+1))
}

func TestAPlayerTypesTheTextWithSomeWrongKeys(t *testing.T) {
	g, sent := atTable(t)
	if want := `420["pvp:join",{"roomId":"r-1","userId":"u-1000042"}]`; (*sent)[1] != want {
		t.Errorf("%q, expected %s", *sent, want)
	}
	text, place, wrong := []rune("ab\\\"c\u00e9x text of thirty charact"), 0, 0
	keys := g.game()
	for seq := range keys {
		said := string(g.Message(nil, uint32(seq), 5*time.Microsecond))
		var key string
		want := fmt.Sprintf(`42["pvp:keystrokes",{"roomId":"r-1","userId":"u-1000042","seq":%d,"sentAt":%d,"keys":`, seq,
			me.Epoch.UnixMicro()+5)
		rest, ok := strings.CutPrefix(said, want)
		if key = strings.TrimSuffix(rest, "}]"); !ok {
			t.Fatalf("%s, expected %s", said, want)
		}
		if key == fmt.Sprintf("%q", string(text[place])) {
			place++
		} else {
			wrong++
		}
		if place != typed(42, seq+1) || wrong != mistakes(42, seq+1) {
			t.Fatalf("key %d: %d right and %d wrong", seq, place, wrong)
		}
	}
	if place != 30 || wrong != 1 {
		t.Errorf("%d keys: %d right and %d wrong", keys, place, wrong)
	}
}

func TestEveryClientTypesItsTextToTheEnd(t *testing.T) {
	for client := range 60 {
		for length := 1; length < 400; length++ {
			keys := keysOf(client, length)
			if typed(client, keys) != length || typed(client, keys-1) != length-1 {
				t.Fatalf("client %d, %d characters: %d keys", client, length, keys)
			}
			if share := float64(mistakes(client, keys)) / float64(keys); length > 100 && (share < 0.03 || share > 0.07) {
				t.Fatalf("client %d errs at %.2f of its keys", client, share)
			}
		}
	}
}

func TestTheCourseOfAGameIsUnderstood(t *testing.T) {
	g, _ := atTable(t)
	for _, step := range []struct {
		said string
		want Kind
	}{
		{`42["pvp:countdown",{"roomId":"r-1","milliseconds":1000,"players":["u-1000041","u-1000042"]}]`, Nothing},
		{`42["pvp:start",{"roomId":"r-1"}]`, Begun},
		{stateOf("r-1", 42, 3), Delivery},
		{stateOf("r-1", 41, 39), Delivery},
		{`42["pvp:state", {"mistakes":0,"typed":1,"sentAt":1,"seq":0,"userId":"u-1000040","roomId":"r-1"} ]`, Delivery},
		{`42["pvp:error",{"reason":"no"}]`, Refused},
		{`42["pvp:over",{"roomId":"r-1","places":["u-1000042","u-1000041"]}]`, Over},
		{stateOf("r-1", 41, 40), Corrupt}, // after the end
	} {
		if got := receive(g, step.said, nil); got.Kind != step.want {
			t.Errorf("%s: %+v", step.said, got)
		}
	}
	got := receive(g, stateOf("r-1", 41, 40), nil)
	if got.Kind != Corrupt {
		t.Errorf("%+v", got)
	}
	g.enter(func([]byte) {}, "r-2")
	if got := receive(g, admission(2, "r-2"), nil); got.Kind != Joined {
		t.Errorf("the next game: %+v", got)
	}
	got = receive(g, stateOf("r-2", 41, 7), nil)
	if got.Kind != Delivery || got.Sender != 41 || got.Seq != 7 || got.SentAt != 5*time.Microsecond {
		t.Errorf("%+v", got)
	}
}

func TestWhatNoRoomMaySayIsCorrupt(t *testing.T) {
	for said, want := range map[string]string{
		stateOf("r-2", 41, 3): "a state of room",
		strings.Replace(stateOf("r-1", 41, 3), `"typed":4`, `"typed":5`, 1):       "5 typed and 0 mistakes",
		strings.Replace(stateOf("r-1", 41, 3), `"mistakes":0`, `"mistakes":1`, 1): "4 typed and 1 mistakes",
		strings.Replace(stateOf("r-1", 41, 3), "u-1000041", "u-41", 1):            "a state of u-41, whom",
		strings.Replace(stateOf("r-1", 41, 3), "u-1000041", "me", 1):              "a state of key 3",
		strings.Replace(stateOf("r-1", 41, 3), "42[", "427[", 1):                  "an event",
		`42["pvp:state",[]]`:                                     "no state",
		`42["pvp:start",{"roomId":"r-2"}]`:                       `"pvp:start" with`,
		`42["pvp:begin",{"roomId":"r-1"}]`:                       `an event "pvp:begin"`,
		`42["pvp:countdown",{"roomId":"r-1","players":["u-1"]}]`: "a countdown of",
		`42["pvp:over",{"roomId":"r-1","places":["u-1000042"]}]`: "an end with places",
		`42["pvp:error",{}]`:                                     "an error without",
		admission(0, "r-1"):                                      "an acknowledgement of event 0",
		`438[{"error":"no"}]`:                                    "an acknowledgement of event 8",
		`431["pong"]`:                                            "an acknowledgement of a ping",
	} {
		g, _ := atTable(t)
		if got := receive(g, said, nil); got.Kind != Corrupt || !strings.HasPrefix(got.Reason, want) {
			t.Errorf("%s: %+v, expected %s", said, got, want)
		}
	}
}

func TestAGameThatHasStartedEndsOnceAndWithItsPlayers(t *testing.T) {
	for said, want := range map[string]string{
		`42["pvp:start",{"roomId":"r-1"}]`:                                   "a second start",
		`42["pvp:over",{"roomId":"r-1","places":["u-1000041"]}]`:             "an end with places",
		`42["pvp:over",{"roomId":"r-1","places":["u-1000042","u-1000042"]}]`: "an end with places",
		`42["pvp:countdown",{"roomId":"r-1","players":["u-1000042"]}]`:       "a countdown of",
	} {
		g, _ := atTable(t)
		receive(g, `42["pvp:start",{"roomId":"r-1"}]`, nil)
		if got := receive(g, said, nil); got.Kind != Corrupt || !strings.HasPrefix(got.Reason, want) {
			t.Errorf("%s: %+v, expected %s", said, got, want)
		}
	}
}

func TestTheAnswerToAJoinIsAnAdmissionOrARefusal(t *testing.T) {
	for said, want := range map[string]Kind{
		`432[{"error":"full"}]`: Denied,
		admission(2, "r-2"):     Joined,
		admission(2, "r-3"):     Corrupt,
		strings.Replace(admission(2, "r-2"), typistName, "u-1", 1): Corrupt,
		strings.Replace(admission(2, "r-2"), "thirty", "six", 1):   Corrupt,
	} {
		g, _ := atTable(t)
		g.enter(func([]byte) {}, "r-2")
		if got := receive(g, said, nil); got.Kind != want {
			t.Errorf("%s: %+v", said, got)
		}
	}
}

func TestAPingIsAskedAndAnswered(t *testing.T) {
	g, _ := atTable(t)
	ask := string(g.Ask(nil, pingKind, 3, 7*time.Microsecond))
	sent := me.Epoch.UnixMicro() + 7
	if want := fmt.Sprintf(`427["ping",{"sentAt":%d}]`, sent); ask != want {
		t.Errorf("%s, expected %s", ask, want)
	}
	got := receive(g, fmt.Sprintf(`437[{"sentAt":%d}]`, sent), nil)
	if got.Kind != Answer || got.Beside != pingKind || got.Seq != 3 || got.SentAt != 7*time.Microsecond {
		t.Errorf("%+v", got)
	}
}

func TestMatchmakingIsOneRequest(t *testing.T) {
	found, err := Find("typing-game-socketio")
	if err != nil {
		t.Fatal(err)
	}
	target, err := found.Target("http://127.0.0.1:9/under/")
	if err != nil {
		t.Fatal(err)
	}
	want := "POST /under/api/pvp/matchmake HTTP/1.1\r\nHost: 127.0.0.1:9\r\nContent-Type: application/json\r\n" +
		"Connection: close\r\nContent-Length: 38\r\n\r\n" + `{"userId":"u-1000042","characters":30}`
	if got := string(found.NewAside(target, typist).Join(nil)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	for said, want := range map[string]Event{
		answerOf(200, `{"roomId":"r-1"}`): {Kind: Matched},
		answerOf(503, `{}`):               {Kind: Denied, Reason: "matchmaking: HTTP 503"},
		answerOf(200, `{"roomId":"a b"}`): {Kind: Denied, Reason: `matchmaking: no room in "{\"roomId\":\"a b\"}"`},
		answerOf(200, `[]`):               {Kind: Denied, Reason: `matchmaking: no room in "[]"`},
	} {
		s := found.NewAside(target, typist)
		s.Join(nil)
		var got Event
		if n, err := s.Next([]byte(said), &got); n != len(said) || err != nil || got.Kind != want.Kind ||
			got.Reason != want.Reason {
			t.Errorf("%s: %+v, %v", said, got, err)
		}
		if got.Kind == Matched && s.(Matcher).Group() != "r-1" {
			t.Errorf("group %q", s.(Matcher).Group())
		}
	}
}

func answerOf(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

func TestIDsAreShortAndPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"r-1": true, "A_z09-": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a b": false, "\u00e9": false, `"`: false, "@": false, "[": false,
	} {
		if isID(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
