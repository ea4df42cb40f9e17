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

// meant begins a request and returns it with the meaning of an answer of this body.
func meant(t *testing.T, d declared.Declaration, header, body string) (request, told string) {
	t.Helper()
	p, err := Declare(d)
	if err != nil {
		t.Fatal(err)
	}
	target, err := p.Target("http://127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewSession(target, Identity{Client: 7})
	request = string(s.Message(nil, 0, time.Second))
	var all []string
	data := fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", header, len(body), body)
	for {
		var event Event
		n, err := s.Next(data, &event)
		if err != nil {
			t.Fatal(err)
		}
		switch data = data[n:]; event.Kind {
		case Nothing:
			return request, strings.Join(all, ", ")
		case Receipt:
			all = append(all, fmt.Sprintf("receipt %d", event.Index))
		case Corrupt:
			all = append(all, "corrupt "+event.Reason)
		case Refused:
			all = append(all, "refused "+event.Reason)
		case Done:
			all = append(all, "done")
		case Opened, Joined:
		default:
			all = append(all, fmt.Sprintf("kind %d", event.Kind))
		}
	}
}

const isStream = "200 OK\r\nContent-Type: text/event-stream"

// order is the declaration of a request with one answer, which repeats the id of its request in every place.
func order() declared.Declaration {
	id := declared.Template{{Value: "id"}}
	return declared.Declaration{
		Format: "json", Path: declared.Template{{Literal: "/orders/"}, {Value: "id"}},
		Query:   declared.Template{{Literal: "at="}, {Value: "time"}},
		Headers: []declared.Header{{Name: "Idempotency-Key", Value: id}},
		Message: declared.Message{
			Send: declared.Template{{Literal: `{"id":`}, {Value: "id"}, {Literal: `}`}},
			Received: declared.Receipt{
				ID: &declared.Condition{At: "/id", Like: id},
				Same: []declared.Condition{{
					At: "/by", Is: declared.Template{{Literal: `"`}, {Secret: "key"}, {Literal: `"`}},
				}},
			},
		},
		Error: &declared.Failure{
			Pattern: declared.Pattern{Where: []declared.Condition{{At: "/why", Is: declared.Template{{Value: "any"}}}}},
			Reason:  "/why",
		},
		Secrets: map[string]declared.Secret{"key": {Env: "PUSHBENCH_SECRET_ORDER"}},
		Request: &declared.Request{Method: "PUT", Status: 201},
	}
}

func TestEachDeclaredRequestHasItsOwnAddressAndHeader(t *testing.T) {
	t.Setenv("PUSHBENCH_SECRET_ORDER", "s3cret")
	p, err := Declare(order())
	if err != nil {
		t.Fatal(err)
	}
	requests := p.newRequests(&url.URL{Host: "h"}, Identity{Client: 7, Epoch: time.UnixMicro(5)})
	for seq := range uint32(2) {
		want := fmt.Sprintf("PUT /orders/700000000%d?at=%d HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n"+
			"Content-Type: application/json\r\nIdempotency-Key: 700000000%d\r\nContent-Length: 17\r\n\r\n"+
			`{"id":700000000%d}`, seq, 5+seq, seq, seq)
		if got := string(requests.Request(nil, seq, time.Duration(seq)*time.Microsecond)); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestWhatADeclaredAnswerMeans(t *testing.T) {
	t.Setenv("PUSHBENCH_SECRET_ORDER", "s3cret")
	for name, c := range map[string]struct{ header, body, want string }{
		"its own": {"201 Created", `{"id":"7000000000","by":"s3cret"}`, "receipt 0, done"},
		"another's": {"201 Created", `{"id":7000000001,"by":"s3cret"}`,
			`corrupt another id than that of the request at /id: "7000000001", done`},
		"altered": {"201 Created", `{"id":7000000000,"by":"me"}`,
			`corrupt message 7000000000 with "\"me\"" at /by, done`},
		"without id": {"201 Created", `{"by":"s3cret"}`,
			`corrupt the pointer /id finds nothing in "{\"by\":\"{secret:key}\"}", done`},
		"no JSON":   {"201 Created", `s3cret`, "corrupt no JSON: \"{secret:key}\", done"},
		"a status":  {"500 Oops", `{"id":7000000000,"by":"s3cret"}`, "refused HTTP 500, done"},
		"too large": {"201 Created", strings.Repeat(" ", mostBody+1), "corrupt a body of more than 1048576 bytes, done"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := meant(t, order(), c.header, c.body); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
		})
	}
	failing := order()
	failing.Message.Received.Where = []declared.Condition{{At: "/id", Is: declared.Template{{Value: "any"}}}}
	_, got := meant(t, failing, "201 Created", `{"why":"no s3cret here"}`)
	if got != "refused no {secret:key} here, done" {
		t.Error(got)
	}
}

func TestADeclaredStreamPostsItsBody(t *testing.T) {
	const want = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: text/event-stream\r\n" +
		"Authorization: Bearer key\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n" +
		`{"stream":true,"user":"7"}`
	if request, _ := meant(t, completion(), isStream, finish); request != want {
		t.Errorf("%q", request)
	}
}

func TestWhatTheEventsOfADeclaredStreamMean(t *testing.T) {
	for name, c := range map[string]struct{ header, body, want string }{
		"all":         {isStream, oneToken + otherToken + stop + finish, "receipt 0, receipt 1, done"},
		"one is lost": {isStream, oneToken + stop + finish, "receipt 0, done"},
		"one too many": {isStream, oneToken + otherToken + oneToken + finish,
			"receipt 0, receipt 1, receipt 2, done"}, // the ledger does not owe receipt 2
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
			if _, got := meant(t, completion(), c.header, c.body); got != c.want {
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
