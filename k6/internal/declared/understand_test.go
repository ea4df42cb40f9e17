package declared

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// whiteboard is docs/examples/whiteboard/protocol.yml as the generator gets it.
func whiteboard(t testing.TB) *Protocol {
	t.Helper()
	text, err := os.ReadFile("testdata/whiteboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d Declaration
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var own = Values{Group: "b-17", Client: 42}

func TestEqualJSONIsTheSameMessage(t *testing.T) {
	p := whiteboard(t)
	writer, reader := p.NewWriter(own), p.NewReader(Values{Group: "b-17", Client: 41})
	draw := string(writer.Message(nil, 7, 1000))
	want := Meaning{Kind: Delivered, ID: 42_000_000_007, Time: 1000}
	spaced := strings.NewReplacer(":", " : ", ",", " ,\n", "[", "[ ").Replace(draw)
	for name, text := range map[string]string{
		"the same": draw, "with blanks": spaced,
		"with escapes":    strings.Replace(draw, `"b-17"`, `"\u0062-17"`, 1),
		"in other order":  strings.Replace(draw, `{"type":"draw",`, `{"extra":[1,{}],"type":"draw",`, 1),
		"an id as string": strings.Replace(draw, `42000000007`, `"42000000007"`, 1),
	} {
		if got := reader.Read([]byte(text), 0); got != want {
			t.Errorf("%s: %+v, expected %+v of %s", name, got, want, text)
		}
	}
}

func TestWhatIsWrongWithAMessageIsToldWithTheKeyThatSaysSo(t *testing.T) {
	p := whiteboard(t)
	writer, reader := p.NewWriter(own), p.NewReader(own)
	draw := string(writer.Message(nil, 7, 1000))
	for _, test := range []struct {
		old, new string
		kind     Kind
		at       string
	}{
		{`"seq":42000000007,`, ``, Altered, "message.id"},
		{`"seq":42000000007,`, `"seq":"x",`, Altered, "message.id"},
		{`"seq":42000000007,`, `"seq":-42000000007,`, Altered, "message.id"},
		{`"sentAt":1000,`, ``, Altered, "message.time"},
		{`"sentAt":1000,`, `"sentAt":1e3,`, Altered, "message.time"},
		{`u-42`, `u-43`, Altered, "message.same"},
		{`b-17`, `b-18`, Altered, "message.same"},
		{`[[412,`, `[[1412,`, Altered, "message.same"},
		{`,"stroke"`, `,"strokes"`, Altered, "message.same"},
		{`"draw"`, `"drew"`, Foreign, "ignore"},
		{`{"type"`, `{{"type"`, Foreign, "format"},
	} {
		text := strings.Replace(draw, test.old, test.new, 1)
		if got := reader.Read([]byte(text), 0); got.Kind != test.kind || got.At != test.at || got.Reason == "" {
			t.Errorf("%s: %+v, expected %d at %s", text, got, test.kind, test.at)
		}
	}
}

// talk is a protocol that has everything.
func talk(t testing.TB) *Protocol {
	t.Helper()
	is := func(at, json string) Condition {
		return Condition{At: at, Is: Template{literally(json)}, Sorted: Template{literally(json)}}
	}
	typed := func(name string) Pattern { return Pattern{Where: []Condition{is("/t", `"`+name+`"`)}} }
	welcome, joined, ping := typed("hi"), typed("in"), typed("ping")
	known := Pattern{Where: []Condition{is("", "{}")}}
	user := Template{literally(`"u-`), value("client"), literally(`"`)}
	joined.Where = append(joined.Where, Condition{At: "/u", Is: user, Sorted: user})
	p, err := Compile(Declaration{
		Format: "json", Path: Template{literally("/chat/"), value("group")}, Query: Template{literally("t="), {Secret: "k"}},
		Headers: []Header{{"Authorization", Template{literally("Bearer "), {Secret: "k"}}}},
		Open:    []Step{{Acknowledged: &welcome}, {Send: Template{literally("me")}, Acknowledged: &known}},
		Join:    &Step{Acknowledged: &joined},
		Message: Message{
			Send: Template{literally(`{"m":"`), value("id"), literally(` said"}`)},
			Received: Receipt{
				Pattern: Pattern{Where: []Condition{{At: "/d/m", Is: Template{value("any")}}}},
				ID:      &Condition{At: "/d/m", Like: Template{value("id"), literally(" said")}},
			},
		},
		KeepAlive: &KeepAlive{Received: &ping, Answer: Template{literally(`{"t":"pong"}`)}},
		Error:     &Failure{typed("err"), "/why"}, Ignore: []Pattern{typed("in"), typed("presence")},
		Secrets: map[string]Secret{"k": {Env: "TALK_KEY"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryKindOfMessageIsUnderstood(t *testing.T) {
	t.Setenv("TALK_KEY", "p&ssw0rd")
	p := talk(t)
	reader := p.NewReader(own)
	for _, test := range []struct {
		text  string
		steps int
		want  Meaning
	}{
		{`{"t":"hi"}`, 0, Meaning{Kind: Opened, At: "open.0.acknowledged"}},
		{`{"t":"hi"}`, 1, Meaning{Kind: Ignored}},
		{" { } ", 1, Meaning{Kind: Opened, At: "open.1.acknowledged"}},
		{`{}`, 2, Meaning{Kind: Ignored}},
		{`{"t":"in","u":"u-42"}`, 2, Meaning{Kind: Joined}},
		{`{"t":"in","u":"u-43"}`, 2, Meaning{Kind: Ignored}},
		{`{"t":"ping"}`, 2, Meaning{Kind: Asked, At: "keep_alive.received"}},
		{`{"t":"presence"}`, 2, Meaning{Kind: Ignored}},
		{`{"t":"err","why":"no p&ssw0rd \u0026 more"}`, 2, Meaning{Kind: Refused, Reason: "no {secret:k} & more"}},
		{`{"t":"err"}`, 2, Meaning{Kind: Refused, Reason: `{"t":"err"}`}},
		{`{"d":{"m":"1000000002 said"}}`, 2, Meaning{Kind: Delivered, ID: 1_000_000_002, Time: unsaid}},
	} {
		if got := reader.Read([]byte(test.text), test.steps); got != test.want {
			t.Errorf("%s: %+v, expected %+v", test.text, got, test.want)
		}
	}
	if path, query := p.Location(own); path != "/chat/b-17" || query != "t=p%26ssw0rd" {
		t.Errorf("%s?%s", path, query)
	}
	if got := p.Header(own).Get("Authorization"); got != "Bearer p&ssw0rd" {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	f.Setenv("TALK_KEY", "x")
	drawn, talked := whiteboard(f), talk(f)
	writer := drawn.NewWriter(own)
	f.Add(writer.Message(nil, 7, 1000))
	f.Add([]byte(`{"d":{"m":"1000000002 said"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range []*Protocol{drawn, talked} {
			reader := p.NewReader(own)
			meaning := reader.Read(text, p.Steps())
			if !json.Valid(text) && meaning.Kind != Foreign {
				t.Errorf("%q is no JSON, and means %+v", text, meaning)
			}
		}
	})
}
