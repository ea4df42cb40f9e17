package conversation

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/scripted"
)

// ask has two clients make requests of a scripted server, as an example declares them except for one change.
func ask(t *testing.T, faults scripted.HTTPFaults, example string, change func(*declared.Declaration)) *Report {
	t.Helper()
	server, err := scripted.StartHTTP("127.0.0.1:0", faults)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Arm(time.Now())
	return converse(t, server.URL(), example, change)
}

// numbered declares posts whose answers contain the id of their request. The scripted server returns it.
func numbered(d *declared.Declaration) {
	d.Message.Received.ID = &declared.Condition{
		At: "/title", Like: declared.Template{{Literal: "post "}, {Value: "id"}},
	}
}

func TestAnswersAreUnderstood(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults   scripted.HTTPFaults
		example  string
		change   func(*declared.Declaration)
		last     string
		receipts int
	}{
		"streams": {scripted.HTTPFaults{}, "token-stream", nil,
			"token 212 of the answer to request 1 of client 0", 3 * 213},
		"streams that end their connections": {scripted.HTTPFaults{UntilClose: true}, "token-stream", nil,
			"token 212 of the answer to request 1 of client 0", 3 * 213},
		"streams that are not numbered": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Request.Stream.Number = ""
		}, "token 212 of the answer to request 1 of client 0", 3 * 213},
		"answers that end their connections": {scripted.HTTPFaults{LastEvery: 1}, "posts", nil,
			"the answer to request 1 of client 0", 3},
		"answers with ids": {scripted.HTTPFaults{}, "posts", numbered, "the answer to request 1 of client 0", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := ask(t, test.faults, test.example, test.change)
			if report.Fault != nil {
				t.Fatal(report.Fault)
			}
			receipts, last := 0, ""
			for _, line := range report.Lines {
				if line.Kind == "received" && strings.Contains(line.Meaning, "the answer to") {
					receipts, last = receipts+1, line.Meaning
				}
			}
			if receipts != test.receipts || last != test.last {
				t.Errorf("%d receipts, the last one %q", receipts, last)
			}
		})
	}
}

func TestWhatIsWrongWithAnAnswerIsAFaultOfItsKey(t *testing.T) {
	t.Parallel()
	like := func(text string) declared.Template { return declared.Template{{Literal: text}} }
	for name, test := range map[string]struct {
		faults   scripted.HTTPFaults
		example  string
		change   func(*declared.Declaration)
		at, what string
	}{
		"too few tokens": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Request.Stream.Receipts = 214
		}, "sse.tokens", "request 0 of client 0 gets 213 of 214 tokens"},
		"too many tokens": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Request.Stream.Receipts = 212
		}, "sse.tokens", "the stream has token 212"},
		"a token twice": {scripted.HTTPFaults{RepeatEvery: 100}, "token-stream", nil, "sse.number",
			"token 99 comes twice"},
		"no numbers": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Format, d.Message.Received.Like, d.Request.Stream.Number = "json", nil, "/n"
		}, "format", "no JSON"},
		"another end": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Request.Stream.End = "[DONE]"
		}, "sse.end", "a stream without its end"},
		"another token": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Message.Received.Like = like("no")
		}, "message.received", "gets nothing of that; what came is an event that is not declared: \"P\""},
		"more events": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Message.Received.Like, d.Request.Stream = like("🚀"), &declared.Stream{Receipts: 1}
		}, "ignore", "an event that is not declared: \"P\""},
		"no stream": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Path = like("/nothing")
		}, "sse.status", "request 0 of client 0 is refused: HTTP 404"},
		"an answer that is no stream": {scripted.HTTPFaults{}, "token-stream", func(d *declared.Declaration) {
			d.Path, d.Request.Status = like("/post/1"), 404
		}, "sse", "a stream of Content-Type \"application/json\""},
		"another status": {scripted.HTTPFaults{}, "posts", func(d *declared.Declaration) {
			d.Request.Status = 200
		}, "http.status", "request 0 of client 0 is refused: HTTP 201"},
		"another answer": {scripted.HTTPFaults{}, "posts", func(d *declared.Declaration) {
			d.Message.Received.Where = []declared.Condition{{At: "/no", Is: like("1"), Sorted: like("1")}}
		}, "message.received", "another answer: \"{\\\"title\\\""},
		"another id": {scripted.HTTPFaults{}, "posts", func(d *declared.Declaration) {
			numbered(d)
			d.Message.Received.ID.At = "/content"
		}, "message.id", "another id than that of the request at /content"},
		"an id that is nowhere": {scripted.HTTPFaults{}, "posts", func(d *declared.Declaration) {
			numbered(d)
			d.Message.Received.ID.At = "/nr"
		}, "message.id", "the pointer /nr finds nothing in"},
		"a declared error": {scripted.HTTPFaults{}, "posts", func(d *declared.Declaration) {
			title := declared.Condition{At: "/title", Is: declared.Template{{Value: "any"}}}
			d.Message.Received.Where = []declared.Condition{{At: "/no", Is: declared.Template{{Value: "any"}}}}
			d.Error = &declared.Failure{
				Pattern: declared.Pattern{Where: []declared.Condition{title}}, Reason: "/title",
			}
		}, "error", "request 0 of client 0 is refused: post 0"},
		"no answer": {scripted.HTTPFaults{Delay: time.Minute}, "posts", nil, "http.path",
			"request 0 of client 0 is not answered within 0.3 s"},
		"half an answer": {scripted.HTTPFaults{LateTokenEvery: 100, LateToken: time.Minute}, "token-stream", nil,
			"sse.path", "the answer to request 0 of client 0 does not end, and nothing more comes within 0.3 s"},
		"an answer that is cut": {scripted.HTTPFaults{ResetEvery: 1}, "token-stream", nil, "", "the connection ends"},
		"an answer twice":       {scripted.HTTPFaults{TwiceEvery: 1}, "posts", nil, "", "nobody asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := ask(t, test.faults, test.example, test.change).Fault
			if fault == nil || fault.At != test.at || !strings.Contains(fault.What, test.what) {
				t.Errorf("%+v, expected %q at %q", fault, test.what, test.at)
			}
		})
	}
}

func TestRequestsAreMadeOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/post" {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.Copy(w, r.Body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for token := range 213 {
			_, _ = fmt.Fprintf(w, "id: %d\ndata: a\n\n", token)
		}
	}))
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "own.pem")
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, example := range []string{"posts", "token-stream"} {
		config := Config{
			URL: server.URL, Declaration: declaration(t, example), Within: 3 * time.Second, Authorities: authority,
		}
		if report, err := Play(config); err != nil || report.Fault != nil {
			t.Errorf("%v %+v", err, report)
		}
		config.Authorities = ""
		if _, err := Play(config); err == nil || !strings.Contains(err.Error(), "TLS: ") {
			t.Errorf("%v, expected that nobody knows the authority", err)
		}
	}
}
