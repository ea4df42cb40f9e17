package declared

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func literally(text string) Part { return Part{Literal: text} }

func value(name string) Part { return Part{Value: name} }

var rows = map[string][]string{"user": {"Ann", `Bo "B"`, "Ann"}}

func made(t *testing.T, parts ...Part) template {
	t.Helper()
	compiled, err := Template(parts).compile(secrets{"token": "s3cret"}, rows, asIs)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestATemplateIsWrittenAndReadBack(t *testing.T) {
	written := made(t, literally("<"), value("group"), literally("> "), value("client"), literally(":"), value("id"),
		literally("@"), value("time"), Part{Secret: "token"}, literally("."))
	values := Values{"b-1", 42, ID(42, 7), 1_764_000_000_000_001}
	text := written.append([]byte("before"), &values)
	if want := "before<b-1> 42:42000000007@1764000000000001s3cret."; string(text) != want {
		t.Fatalf("%q, expected %q", text, want)
	}
	got := Values{"b-1", unsaid, unsaid, unsaid}
	if !written.match(text[len("before"):], &got) || got != values {
		t.Errorf("%+v, expected %+v", got, values)
	}
	for name, other := range map[string]string{
		"another group": "<b-2> 42:42000000007@1s3cret.", "more": "<b-1> 42:42000000007@1s3cret..",
		"less": "<b-1> 42:42000000007@1s3cret", "no number": "<b-1> x:42000000007@1s3cret.",
		"a leading zero": "<b-1> 042:42000000007@1s3cret.", "a longer number": "<b-1> 1234567890123456789:1@1s3cret.",
	} {
		got := Values{"b-1", unsaid, unsaid, unsaid}
		if written.match([]byte(other), &got) {
			t.Errorf("%s: %q is the template, with %+v", name, other, got)
		}
	}
}

func TestAClientHasARow(t *testing.T) {
	hello := made(t, literally("hi "), Part{Row: "user"}, literally("!"))
	for client, want := range map[int64]string{0: "hi Ann!", 1: `hi Bo "B"!`, 4: `hi Bo "B"!`, perPart + 1: `hi Bo "B"!`} {
		v := Values{Client: client}
		if got := string(hello.append(nil, &v)); got != want {
			t.Errorf("client %d: %q, expected %q", client, got, want)
		}
		if !hello.match([]byte(want), &v) {
			t.Errorf("client %d: %q is not its own", client, want)
		}
		if v.Client++; hello.match([]byte(want), &v) {
			t.Errorf("%q is that of client %d, too", want, v.Client)
		}
	}
	if unknown := (Values{Client: unsaid}); hello.match([]byte("hi Ann!"), &unknown) {
		t.Error("the row of nobody is somebody's")
	}
	quoted, err := Template{{Row: "user"}}.compile(nil, rows, escaped)
	if got := string(quoted.append(nil, &Values{Client: 1})); err != nil || got != `Bo \"B\"` {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (Template{{Row: "name"}}).compile(nil, rows, asIs); err == nil {
		t.Error("a column that the table does not have")
	}
}

func TestAnythingTakesAsLittleAsItCan(t *testing.T) {
	for _, test := range []struct {
		parts []Part
		text  string
		id    int64 // unsaid if the text does not match the template
	}{
		{[]Part{value("any")}, "", unsaid + 1},
		{[]Part{value("any"), literally("id="), value("id")}, "id=x id=17", 17},
		{[]Part{value("any"), literally("id="), value("id"), literally(";"), value("any")}, "a id=3;b id=4;", 3},
		{[]Part{value("any"), literally("id="), value("id"), literally(";")}, "id=1,id=2;", 2},
		{[]Part{literally("["), value("any"), literally("]"), value("id")}, "[a]]8", 8},
		{[]Part{value("id"), literally(" "), value("any")}, "9 ", 9},
		{[]Part{value("id"), literally(" "), value("any")}, "9", unsaid},
		{[]Part{value("any"), literally("a"), value("any"), literally("b")}, strings.Repeat("a", 2000), unsaid},
		{[]Part{value("id"), literally("-"), value("id")}, "5-6", unsaid},
		{[]Part{value("id"), literally("-"), value("id")}, "5-5", 5},
	} {
		got := Values{ID: unsaid, Client: unsaid, Time: unsaid}
		if test.id == unsaid+1 {
			got.ID = 0
		}
		if ok := made(t, test.parts...).match([]byte(test.text), &got); ok != (test.id != unsaid) {
			t.Errorf("%q: %t", test.text, ok)
		} else if ok && got.ID != test.id {
			t.Errorf("%q: id %d, expected %d", test.text, got.ID, test.id)
		}
	}
}

func TestAnIDIsOfOneClientAndOneMessage(t *testing.T) {
	if id := ID(Number(2, 42), 7); id != 2_000_042_000_000_007 {
		t.Errorf("message 7 of client 42 of part 2 has the id %d", id)
	}
	seen := map[int64]bool{}
	for _, part := range []int{0, 1, MostParts - 1} {
		for _, client := range []int{0, 1, 42, perPart - 1} {
			for _, seq := range []uint32{0, 7, perClient - 1} {
				id := ID(Number(part, client), seq)
				gotClient, gotSeq := Sender(id, part)
				if seen[id] || id > 1<<53 || gotClient != client || gotSeq != seq {
					t.Errorf("id %d of message %d of client %d of part %d: %d of %d", id, seq, client, part, gotSeq, gotClient)
				}
				seen[id] = true
				if other, _ := Sender(id, part+1); other >= 0 {
					t.Errorf("id %d is client %d of another part", id, other)
				}
			}
		}
	}
}

func TestSecretsAreReadAndNeverTold(t *testing.T) {
	t.Setenv("CHAT_TOKEN", `a"b c`)
	known, err := read(map[string]Secret{"token": {Env: "CHAT_TOKEN"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`no a"b c here`, `{"t":"a\"b c"}`, "/?t=a%22b+c"} {
		if told := known.redact(text); strings.Contains(told, "b c") || strings.Contains(told, "b+c") ||
			!strings.Contains(told, "{secret:token}") {
			t.Errorf("told %q", told)
		}
	}
	for name, from := range map[string]Secret{
		"not set": {Env: "CHAT_NOTHING"}, "no file": {FileEnv: "CHAT_TOKEN"},
	} {
		if _, err := read(map[string]Secret{"token": from}); err == nil || strings.Contains(err.Error(), "b c") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADeclarationThatCannotWorkIsRefused(t *testing.T) {
	right := func() Declaration {
		return Declaration{Format: "json", Message: Message{Received: Receipt{ID: &Condition{At: "/id"}}}}
	}
	if _, err := Compile(right()); err != nil {
		t.Fatal(err)
	}
	for want, wrong := range map[string]func(*Declaration){
		`format "xml"`: func(d *Declaration) { d.Format = "xml" },
		"id":           func(d *Declaration) { d.Message.Received.ID = nil },
		"no value":     func(d *Declaration) { d.Leave = Template{value("grup")} },
		"no secret":    func(d *Declaration) { d.Leave = Template{{Secret: "token"}} },
		"pointer":      func(d *Declaration) { d.Ignore = []Pattern{{Where: []Condition{{At: "type"}}}} },
	} {
		d := right()
		wrong(&d)
		if _, err := Compile(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func TestKeepAliveIsInSeconds(t *testing.T) {
	alive := &KeepAlive{EverySeconds: 0.5, Send: Template{literally("x")}}
	p, err := Compile(Declaration{Format: "text", KeepAlive: alive})
	if err != nil || p.KeepAlive != 500*time.Millisecond {
		t.Fatal(p, err)
	}
	w := p.NewWriter(Values{})
	if got := string(w.Alive()); got != "x" || !reflect.DeepEqual(w.Answer(), []byte{}) {
		t.Errorf("%q and %q", got, w.Answer())
	}
}
