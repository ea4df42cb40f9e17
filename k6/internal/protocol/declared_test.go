package protocol

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

// declaration returns an example's declaration as the generator gets it.
func declaration(t testing.TB, name string) (d declared.Declaration) {
	t.Helper()
	text, err := os.ReadFile("../declared/testdata/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func declaredProtocol(t testing.TB, d declared.Declaration) Protocol {
	t.Helper()
	p, err := Declare(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestADeclaredClientUnderstandsWhatTheBuiltInOneDoes(t *testing.T) {
	builtIn := session(t, "whiteboard-json")
	other := declaredProtocol(t, declaration(t, "whiteboard")).NewConversation(me)
	spaced := strings.NewReplacer(":", " : ", ",", ", ")
	for _, change := range []func(string) string{
		func(draw string) string { return draw },
		spaced.Replace,
		func(draw string) string {
			return strings.Replace(draw, `{"type":"draw",`, `{"more":{"a":[]},"type":"draw",`, 1)
		},
		func(draw string) string { return strings.Replace(draw, "b-17", "b-18", 1) },
		func(draw string) string { return strings.Replace(draw, "u-42", "u-x", 1) },
		func(draw string) string { return strings.Replace(draw, "[[412", "[[1412", 1) },
		func(draw string) string { return strings.Replace(draw, `"draw"`, `"drawn"`, 1) },
		func(draw string) string { return draw[:len(draw)-1] },
		func(draw string) string { return draw + "}" },
		func(string) string { return `{"type":"joined","boardId":"b-17","userId":"u-42"}` },
		func(string) string { return `{"type":"error","reason":"no \u0062oard"}` },
		func(string) string { return `{"type":"party"}` },
		func(string) string { return `` },
	} {
		one := receive(builtIn, change(drawOf(t, builtIn)), nil)
		two := receive(other, change(drawOf(t, other)), nil)
		if one.Kind != two.Kind || one.SentAt != two.SentAt || one.Seq != two.Seq ||
			one.Kind == Delivery && one.Sender != two.Sender || one.Kind == Refused && one.Reason != two.Reason {
			t.Errorf("%s\nbuilt-in %+v\ndeclared %+v", change(drawOf(t, other)), one, two)
		}
	}
}

func TestADeclaredClientSendsWhatTheBuiltInOneSends(t *testing.T) {
	p := declaredProtocol(t, declaration(t, "whiteboard"))
	builtIn, other := session(t, "whiteboard-json"), p.NewConversation(me)
	for name, say := range map[string]func(Conversation, Send){
		"join": func(c Conversation, send Send) {
			if c.Join(send) {
				t.Error("a member without the server's word")
			}
		},
		"leave": func(c Conversation, send Send) { c.Leave(send) },
	} {
		var said []string
		for _, each := range []Conversation{builtIn, other} {
			say(each, func(text []byte) { said = append(said, string(text)) })
		}
		if len(said) != 2 || said[0] != said[1] {
			t.Errorf("%s: %q", name, said)
		}
	}
	if got, want := drawOf(t, other), strings.Replace(drawOf(t, builtIn), `"seq":7`, `"seq":42000000007`, 1); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	target, err := p.Target("ws://127.0.0.1:8080/base")
	if err != nil {
		t.Fatal(err)
	}
	if request := string(p.NewSession(target, me).Open(nil)); !strings.HasPrefix(request, "GET /base/ws HTTP/1.1\r\n") {
		t.Errorf("%q", request)
	}
}

func TestADeclarationMakesTheOpeningHandshake(t *testing.T) {
	t.Setenv("CHAT_TOKEN", "t0ken")
	text := func(parts ...declared.Part) declared.Template { return parts }
	d := declaration(t, "ws-chat")
	d.Secrets = map[string]declared.Secret{"token": {Env: "CHAT_TOKEN"}}
	d.Query = text(declared.Part{Literal: "as="}, declared.Part{Value: "client"})
	d.Subprotocol = "chat.v1"
	d.Headers = []declared.Header{{Name: "authorization",
		Value: text(declared.Part{Literal: "Bearer "}, declared.Part{Secret: "token"})}}
	request := string(declaredProtocol(t, d).NewSession(&url.URL{Scheme: "ws", Host: "h:1"}, me).Open(nil))
	for _, line := range []string{"GET /chat/b-17?as=42 HTTP/1.1", "Authorization: Bearer t0ken",
		"Sec-Websocket-Protocol: chat.v1"} {
		if !strings.Contains(request, line+"\r\n") {
			t.Errorf("no %q in %q", line, request)
		}
	}
}

func TestMessagesOfAnotherPartOfTheLoadAreOfNobody(t *testing.T) {
	p := declaredProtocol(t, declaration(t, "ws-chat"))
	there, here := me, me
	there.Part = 1
	text := string(p.NewConversation(there).Message(nil, 3, time.Second))
	if got := receive(p.NewConversation(there), text, nil); got.Kind != Delivery || got.Sender != 42 || got.Seq != 3 ||
		!got.Undated {
		t.Errorf("%q: %+v", text, got)
	}
	altered := strings.Replace(text, "user-1000042", "user-1000043", 1)
	if got := receive(p.NewConversation(there), altered, nil); got.Kind != Corrupt {
		t.Errorf("%q: %+v, expected that the id is of another client", altered, got)
	}
	if got := receive(p.NewConversation(here), text, nil); got.Kind != Delivery || got.Sender < 1000 {
		t.Errorf("%q: %+v, expected a sender that is not there", text, got)
	}
}

func TestAFrameMayHaveSeveralMessages(t *testing.T) {
	d := declaration(t, "ws-chat")
	d.Separator = "\x1e"
	p := declaredProtocol(t, d)
	one, two := string(p.NewConversation(me).Message(nil, 1, 0)), string(p.NewConversation(me).Message(nil, 2, 0))
	for text, want := range map[string][]Kind{
		one + "\x1e" + two:               {Delivery, Delivery},
		one + "\x1e" + two + "\x1e":      {Delivery, Delivery},
		one + "\x1e":                     {Delivery},
		one:                              {Delivery},
		one + "\x1e\x1e" + two:           {Delivery, Corrupt, Delivery},
		one + "\x1e" + two + "\x1ex\x1e": {Delivery, Delivery, Corrupt},
	} {
		for _, size := range []int{1, 7, 1 << 10} {
			s := newWebSocket(&url.URL{Host: "h"}, "", nil, p.NewConversation(me))
			s.reader, s.separator = wire.NewReader(nil), []byte(d.Separator)
			var got []Kind
			for piece := range slices.Chunk(append(frame(text), frame(two)...), size) {
				got = append(got, kinds(events(t, s, string(piece)))...)
			}
			if !slices.Equal(got, append(slices.Clone(want), Delivery)) {
				t.Errorf("%q in pieces of %d: %v, expected %v and a delivery", text, size, got, want)
			}
		}
	}
}

// frame returns a message as a server frames it.
func frame(text string) []byte {
	header := []byte{0x81, 126, byte(len(text) >> 8), byte(len(text))}
	if len(text) < 126 {
		header = []byte{0x81, byte(len(text))}
	}
	return append(header, text...)
}
