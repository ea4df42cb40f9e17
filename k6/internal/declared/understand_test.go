package declared

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// whiteboard returns docs/examples/whiteboard/protocol.yml as the generator gets it.
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

// change replaces a part of a message. Key is the key of the declaration that the new part violates.
type change struct {
	Old, New, Key string
}

// changes returns the changes of testdata/changed-draws.json, which the clients of `pushbench verify` read, too.
func changes(t *testing.T) (equal, wrong []change) {
	t.Helper()
	text, err := os.ReadFile("testdata/changed-draws.json")
	if err != nil {
		t.Fatal(err)
	}
	var found struct{ Equal, Wrong []change }
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Equal) == 0 || len(found.Wrong) == 0 {
		t.Fatal("the file has no changes")
	}
	return found.Equal, found.Wrong
}

// changed returns the message with the change, which must have something to replace.
func changed(t *testing.T, message string, c change) string {
	t.Helper()
	if !strings.Contains(message, c.Old) {
		t.Fatalf("%s is not in %s", c.Old, message)
	}
	return strings.Replace(message, c.Old, c.New, 1)
}

func TestEqualJSONIsTheSameMessage(t *testing.T) {
	p := whiteboard(t)
	writer, reader := p.NewWriter(own), p.NewReader(Values{Group: "b-17", Client: 41})
	draw := string(writer.Message(nil, 7, 1000))
	want := Meaning{Kind: Delivered, ID: 42_000_000_007, Time: 1000}
	equal, _ := changes(t)
	for _, each := range equal {
		text := changed(t, draw, each)
		if got := reader.Read([]byte(text), 0); got != want {
			t.Errorf("%+v, expected %+v of %s", got, want, text)
		}
	}
}

func TestWhatIsWrongWithAMessageIsToldWithTheKeyThatSaysSo(t *testing.T) {
	p := whiteboard(t)
	writer, reader := p.NewWriter(own), p.NewReader(own)
	draw := string(writer.Message(nil, 7, 1000))
	_, wrong := changes(t)
	for _, each := range wrong {
		kind := Altered
		if each.Key == "ignore" || each.Key == "format" {
			kind = Foreign
		}
		text := changed(t, draw, each)
		if got := reader.Read([]byte(text), 0); got.Kind != kind || got.At != each.Key || got.Reason == "" {
			t.Errorf("%s: %+v, expected %d at %s", text, got, kind, each.Key)
		}
	}
}

// talk returns a protocol that uses every feature.
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
