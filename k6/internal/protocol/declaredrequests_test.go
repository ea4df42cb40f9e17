package protocol

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
)

// completion is the declaration of a stream of two tokens, as OpenAI's API sends it.
func completion() declared.Declaration {
	is := func(at, json string) declared.Condition {
		text := declared.Template{{Literal: json}}
		return declared.Condition{At: at, Is: text, Sorted: text}
	}
	return declared.Declaration{
		Format:  "json",
		Path:    declared.Template{{Literal: "/v1/chat/completions"}},
		Headers: []declared.Header{{Name: "Authorization", Value: declared.Template{{Literal: "Bearer key"}}}},
		Message: declared.Message{
			Send: declared.Template{{Literal: `{"stream":true,"user":"`}, {Value: "client"}, {Literal: `"}`}},
			Received: declared.Receipt{Pattern: declared.Pattern{Where: []declared.Condition{
				{At: "/choices/0/delta/content", Is: declared.Template{{Value: "any"}}},
			}}},
		},
		Error: &declared.Failure{
			Pattern: declared.Pattern{Where: []declared.Condition{is("/type", `"error"`)}}, Reason: "/message",
		},
		Ignore: []declared.Pattern{{Where: []declared.Condition{is("/choices/0/finish_reason", `"stop"`)}}},
		Request: &declared.Request{
			Method: "POST", Status: 200, Stream: &declared.Stream{Receipts: 2, End: "[DONE]"},
		},
	}
}

const (
	oneToken   = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	otherToken = "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"
	stop       = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	finish     = "data: [DONE]\n\n"
)

// streamed begins a request, and returns it with what an answer of this body means.
func streamed(t *testing.T, header, body string) (request string, events []Event) {
	t.Helper()
	p, err := Declare(completion())
	if err != nil {
		t.Fatal(err)
	}
	target, err := p.Target("http://127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewSession(target, Identity{Client: 7})
	request = string(s.Message(nil, 0, time.Second))
	data := fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", header, len(body), body)
	for {
		var event Event
		n, err := s.Next(data, &event)
		if err != nil {
			t.Fatal(err)
		}
		if data = data[n:]; event.Kind == Nothing {
			return request, events
		}
		if event.Kind != Opened && event.Kind != Joined {
			events = append(events, event)
		}
	}
}

const isStream = "200 OK\r\nContent-Type: text/event-stream"

func TestADeclaredStreamPostsItsBody(t *testing.T) {
	const want = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: text/event-stream\r\n" +
		"Authorization: Bearer key\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n" +
		`{"stream":true,"user":"7"}`
	if request, _ := streamed(t, isStream, finish); request != want {
		t.Errorf("%q", request)
	}
}

func TestWhatTheEventsOfADeclaredStreamMean(t *testing.T) {
	for name, c := range map[string]struct{ header, body, want string }{
		"all":         {isStream, oneToken + otherToken + stop + finish, "receipt 0, receipt 1, done"},
		"one is lost": {isStream, oneToken + stop + finish, "receipt 0, done"},
		"one too many": {isStream, oneToken + otherToken + oneToken + finish,
			"receipt 0, receipt 1, receipt 2, done"}, // which the ledger does not owe
		"no end": {isStream, oneToken + otherToken, "receipt 0, receipt 1, corrupt a stream without its end, done"},
		"after its end": {isStream, oneToken + finish + otherToken,
			"receipt 0, corrupt an event after the end of the stream, done"},
		"undeclared": {isStream, "data: {}\n\n" + oneToken,
			"corrupt an event that is not declared: \"{}\", receipt 0, done"},
		"no JSON":  {isStream, "data: a\n\n", "corrupt no JSON: \"a\", done"},
		"an error": {isStream, "data: {\"type\":\"error\",\"message\":\"too busy\"}\n\n", "refused too busy, done"},
		"a status": {"429 Too Many Requests", oneToken, "refused HTTP 429, done"},
		"another type": {"200 OK\r\nContent-Type: text/html", oneToken,
			"corrupt a stream of Content-Type \"text/html\", done"},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			_, events := streamed(t, c.header, c.body)
			for _, event := range events {
				switch event.Kind {
				case Receipt:
					told = append(told, fmt.Sprintf("receipt %d", event.Index))
				case Corrupt:
					told = append(told, "corrupt "+event.Reason)
				case Refused:
					told = append(told, "refused "+event.Reason)
				case Done:
					told = append(told, "done")
				default:
					told = append(told, fmt.Sprintf("kind %d", event.Kind))
				}
			}
			if got := strings.Join(told, ", "); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
		})
	}
}

func TestAStreamThatCannotBeAskedForIsNoProtocol(t *testing.T) {
	line := func(text string) declared.Template { return declared.Template{{Literal: text}} }
	for want, change := range map[string]func(*declared.Declaration){
		"expected one of":     func(d *declared.Declaration) { d.Request.Method = "TRACE" },
		"0 receipts":          func(d *declared.Declaration) { d.Request.Stream.Receipts = 0 },
		"a GET sends nothing": func(d *declared.Declaration) { d.Request.Method = "GET" },
		"has no open":         func(d *declared.Declaration) { d.Join = &declared.Step{Send: line("{}")} },
		"not one line":        func(d *declared.Declaration) { d.Headers[0].Value = line("a\r\nb") },
		"writer itself sets": func(d *declared.Declaration) {
			d.Headers = append(d.Headers, declared.Header{Name: "Content-Length", Value: line("1")})
		},
	} {
		d := completion()
		change(&d)
		if _, err := Declare(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

func TestTheTargetOfADeclaredStreamIsAddedToThatOfTheServer(t *testing.T) {
	d := completion()
	d.Path, d.Query = declared.Template{{Literal: "/of/"}, {Value: "group"}}, declared.Template{{Literal: "n=1"}}
	p, err := Declare(d)
	if err != nil {
		t.Fatal(err)
	}
	made := p.newRequests(&url.URL{Host: "h", Path: "/base"}, Identity{Group: "g-1"}).Request(nil, 0, 0)
	if !strings.HasPrefix(string(made), "POST /base/of/g-1?n=1 HTTP/1.1\r\n") {
		t.Errorf("%q", made)
	}
}
