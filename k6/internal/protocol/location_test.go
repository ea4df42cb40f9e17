package protocol

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const sentAt = 123_456 * time.Microsecond

// other is a member of the group of me.
var other = Identity{Group: me.Group, Client: 43, Epoch: me.Epoch}

// newsOf returns the news that servers make of a position.
func newsOf(version int, sender Identity, seq uint32) string {
	p := newPositions(sender)
	return fmt.Sprintf(`{"version":%d,"positions":[{"user":"u-%d",%s}]}`, version, sender.Client,
		p.fields(nil, seq, sentAt))
}

func memberOf(t *testing.T, protocol string) Session {
	t.Helper()
	found, err := Find(protocol)
	if err != nil {
		t.Fatal(err)
	}
	target, err := found.Target("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	return found.NewSession(target, me)
}

// events returns the events that a session makes of bytes, without those that mean nothing.
func events(t *testing.T, session Session, data string) (found []Event) {
	t.Helper()
	for rest := []byte(data); ; {
		var event Event
		n, err := session.Next(rest, &event)
		if rest = rest[n:]; err != nil {
			t.Fatal(err)
		}
		if event.Kind == Nothing {
			return found
		}
		if event.Kind != Other || event.Reply != nil {
			event.Reply = slices.Clone(event.Reply)
			found = append(found, event)
		}
	}
}

func kinds(events []Event) (all []Kind) {
	for _, each := range events {
		all = append(all, each.Kind)
	}
	return all
}

func answered(body string) string {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	return fmt.Sprintf(head+"%s", len(body), body)
}

func TestAPositionIsTheDocumentedMessage(t *testing.T) {
	p := newPositions(me)
	var position struct {
		Lat, Lon    float64
		Seq, SentAt int64
	}
	if err := json.Unmarshal(p.position(nil, 7, sentAt), &position); err != nil {
		t.Fatal(err)
	}
	if position.Seq != 7 || position.SentAt != 1_764_000_000_123_456 || position.Lat < 52 || position.Lat >= 53 ||
		position.Lon < 13 || position.Lon >= 14 {
		t.Errorf("%+v", position)
	}
}

func TestNewsIsUnderstoodInAnyFormOfJSON(t *testing.T) {
	compact := newsOf(18, other, 7)
	var parsed map[string]any
	if err := json.Unmarshal([]byte(compact), &parsed); err != nil {
		t.Fatal(err)
	}
	spaced, err := json.MarshalIndent(parsed, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	exponents := strings.ReplaceAll(string(spaced), "1.764000000123456e+15", "1764000000123456")
	for _, text := range []string{compact, exponents} {
		p := newPositions(me)
		version, err := p.read([]byte(text))
		var event Event
		if err != nil || version != 18 || !p.next(&event) {
			t.Fatalf("%s: version %d, %v", text, version, err)
		}
		if want := (Event{Kind: Delivery, Sender: 43, Seq: 7, SentAt: sentAt}); !reflect.DeepEqual(event, want) {
			t.Errorf("%+v", event)
		}
		if p.next(&event) {
			t.Errorf("another one: %+v", event)
		}
	}
}

func TestNewsOfAPositionElsewhereIsWrongAndKeepsTheOthers(t *testing.T) {
	p := newPositions(me)
	altered := strings.Replace(newsOf(18, other, 7), `"lat":52`, `"lat":53`, 1)
	good := strings.TrimSuffix(strings.TrimPrefix(newsOf(1, Identity{Client: 44}, 3), `{"version":1,"positions":[`), "]}")
	version, err := p.read([]byte(strings.Replace(altered, "]}", ","+good+"]}", 1)))
	if version != 18 || err == nil || len(p.told) != 1 || p.told[0].sender != 44 {
		t.Errorf("version %d, %v, %+v", version, err, p.told)
	}
	for _, text := range []string{
		"", "[]", "{}", `{"version":1}`, `{"positions":[]}`, `{"version":1,"positions":[`, `{"version":1,"positions":[]}x`,
		strings.Replace(newsOf(1, other, 7), "u-43", "nobody", 1),
		strings.Replace(newsOf(1, other, 7), `"seq":7`, `"seq":8`, 1),
	} {
		if _, err := p.read([]byte(text)); err == nil {
			t.Errorf("%q is read as news", text)
		}
	}
}

func TestAPollerAsksForWhatItDoesNotKnow(t *testing.T) {
	s := memberOf(t, "location-poll")
	if got := kinds(events(t, s, "")); !slices.Equal(got, []Kind{Opened, Ready}) {
		t.Fatal(got)
	}
	if got := string(s.Join(nil)); !strings.HasPrefix(got, "GET /groups/b-17/positions?user=u-42 HTTP/1.1\r\n") {
		t.Errorf("%q", got)
	}
	if got := s.Join(nil); len(got) != 0 {
		t.Errorf("asks twice: %q", got)
	}
	if got := kinds(events(t, s, answered(newsOf(18, other, 7)))); !slices.Equal(got, []Kind{Joined, Delivery}) {
		t.Errorf("%v", got)
	}
	if got := string(s.(Poller).Poll(nil)); !strings.HasPrefix(got, "GET /groups/b-17/positions?user=u-42&since=18 ") {
		t.Errorf("%q", got)
	}
	put := string(s.Message(nil, 7, sentAt))
	if !strings.HasPrefix(put, "PUT /groups/b-17/positions/u-42 HTTP/1.1\r\n") {
		t.Errorf("%q", put)
	}
	both := answered(`{"version":18,"positions":[]}`) + "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
	if got := events(t, s, both); len(got) != 1 || got[0].Kind != Refused || !strings.Contains(got[0].Reason, "503") {
		t.Errorf("%+v", got)
	}
}

func TestALongPollerAsksAgainAtOnce(t *testing.T) {
	s := memberOf(t, "location-long-poll")
	events(t, s, "")
	if got := string(s.Join(nil)); !strings.HasPrefix(got, "GET /groups/b-17/positions?user=u-42&wait=25 ") {
		t.Errorf("%q", got)
	}
	got := events(t, s, answered(newsOf(18, other, 7)))
	if !slices.Equal(kinds(got), []Kind{Joined, Delivery, Other}) ||
		!strings.HasPrefix(string(got[2].Reply), "GET /groups/b-17/positions?user=u-42&since=18&wait=25 ") {
		t.Errorf("%+v", got)
	}
	got = events(t, s, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
	if !slices.Equal(kinds(got), []Kind{Closed}) {
		t.Errorf("%+v", got)
	}
}

func TestTheFirstEventOfAStreamMakesAMember(t *testing.T) {
	s := memberOf(t, "location-sse")
	events(t, s, "")
	if got := string(s.Join(nil)); !strings.HasPrefix(got, "GET /groups/b-17/events?user=u-42 HTTP/1.1\r\n") {
		t.Errorf("%q", got)
	}
	event := func(id int, news string) string { return fmt.Sprintf("id: %d\ndata: %s\n\n", id, news) }
	stream := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n:hello\n\n" +
		event(17, newsOf(17, other, 6)) + event(18, newsOf(18, other, 7)) + event(20, newsOf(19, other, 8)) + "id: 21\n"
	if got := kinds(events(t, s, stream)); !slices.Equal(got, []Kind{Joined, Delivery, Corrupt}) {
		t.Errorf("%v", got)
	}
	refused := memberOf(t, "location-sse")
	refused.Join(nil)
	got := events(t, refused, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno")
	if !slices.Contains(kinds(got), Closed) {
		t.Errorf("%+v", got)
	}
}

func TestTheFirstMessageOfASocketMakesAMember(t *testing.T) {
	s := session(t, "location-websocket")
	for _, step := range []struct {
		text string
		want Kind
	}{
		{newsOf(17, other, 6), Joined}, {newsOf(18, other, 7), Delivery}, {`{"error":"no"}`, Refused},
		{`{"version":19,"positions":[]}`, Corrupt}, {"x", Corrupt},
	} {
		if got := receive(s, step.text, nil); got.Kind != step.want {
			t.Errorf("%s: %+v", step.text, got)
		}
	}
	found, _ := Find("location-websocket")
	w := found.NewSession(&url.URL{Scheme: "ws", Host: "127.0.0.1:8080"}, me)
	if got := string(w.Open(nil)); !strings.HasPrefix(got, "GET /groups/b-17/socket?user=u-42 HTTP/1.1\r\n") {
		t.Errorf("%q", got)
	}
}

func TestSTOMPClientsJoinThroughTheirGroupAndIgnoreTheirOwnPositions(t *testing.T) {
	s := session(t, "location-stomp")
	var sent []string
	send := func(payload []byte) { sent = append(sent, string(payload)) }
	if s.Open(send) {
		t.Error("a client may join before it is connected")
	}
	if got := receive(s, "CONNECTED\nversion:1.2\n\n\x00", send); got.Kind != Ready {
		t.Errorf("%+v", got)
	}
	s.Join(send)
	want := []string{
		"CONNECT\naccept-version:1.2\nheart-beat:0,0\nhost:push\n\n\x00",
		"SUBSCRIBE\nid:errors\ndestination:/user/queue/errors\n\n\x00",
		"SUBSCRIBE\nid:group\ndestination:/topic/group.b-17\n\n\x00",
		"SEND\ndestination:/app/group.b-17.join\ncontent-type:application/json\ncontent-length:15\n\n{\"user\":\"u-42\"}\x00",
	}
	if !slices.Equal(sent, want) {
		t.Errorf("%q", sent)
	}
	message := func(body string) string { return "MESSAGE\nsubscription:group\n\n" + body + "\x00" }
	for _, step := range []struct {
		text string
		want Kind
	}{
		{`{"joined":"u-43"}`, Nothing}, {`{"joined":"u-42"}`, Joined}, {newsOf(18, other, 7), Delivery},
		{newsOf(19, me, 7), Nothing}, {`{"error":"no"}`, Refused},
	} {
		if got := receive(s, message(step.text), send); got.Kind != step.want {
			t.Errorf("%s: %+v", step.text, got)
		}
	}
	frame := string(s.Message(nil, 7, sentAt))
	begins := strings.HasPrefix(frame, "SEND\ndestination:/app/group.b-17\n")
	if !begins || !strings.Contains(frame, `{"user":"u-42","lat":52.`) {
		t.Errorf("%q", frame)
	}
}
