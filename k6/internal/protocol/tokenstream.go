package protocol

import (
	"bytes"
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
	"github.com/pushbench/pushbench/k6/internal/sse"
)

// TokenText is the text that every server of the suite token-stream sends, one character per event.
const TokenText = "Pushbench streams this text one character at a time, as language models do. " +
	"It costs a server an event for each: " +
	"café, naïve, Ωmega, Привет, 你好, こんにちは, 안녕하세요, and a rocket 🚀, which is two units in UTF-16. The end."

// tokens are the characters of the text, in UTF-8.
var tokens = func() (list [][]byte) {
	for _, character := range TokenText {
		list = append(list, []byte(string(character)))
	}
	return list
}()

func init() {
	register("token-stream-sse", Protocol{path: "/stream", newRequests: newTokenStream, Receipts: len(tokens)})
}

// tokenStream is the protocol token-stream-sse: docs/protocols.md describes it.
type tokenStream struct {
	request []byte
	events  sse.Reader
}

func newTokenStream(target *url.URL, id Identity) Requests {
	path := *target
	path.RawQuery = id.Query
	request, err := (&http1.Request{
		Method: "GET", Target: path.RequestURI(), Host: target.Host,
		Fields: []http1.Field{{Name: "Accept", Value: "text/event-stream"}},
	}).Append(nil)
	if err != nil {
		panic(err) // the URL was parsed before
	}
	return &tokenStream{request: request}
}

// Request implements Requests, as do the methods below.
func (t *tokenStream) Request(buf []byte, _ uint32, _ time.Duration) []byte {
	t.events = sse.Reader{}
	return append(buf, t.request...)
}

func (t *tokenStream) Header(status int, section []byte, event *Event) {
	if status != 200 {
		event.refuse("HTTP " + strconv.Itoa(status))
		return
	}
	if kind := http1.Value(section, "Content-Type"); !bytes.HasPrefix(kind, []byte("text/event-stream")) {
		event.corrupt("a stream of Content-Type %.60q", kind)
	}
}

func (t *tokenStream) Body(piece []byte, event *Event) int {
	token, n, found, err := t.events.Next(piece)
	switch {
	case err != nil:
		event.corrupt("%v", err)
		return len(piece)
	case !found:
		return n
	}
	number, rest, ok := number(token.ID)
	switch {
	case !ok || len(rest) > 0 || number >= int64(len(tokens)):
		event.corrupt("an event with id %.40q", token.ID)
	case !bytes.Equal(token.Data, tokens[number]):
		event.corrupt("event %d with %.40q", number, token.Data)
	default:
		event.Kind, event.Index = Receipt, int(number)
	}
	return n
}

func (t *tokenStream) End(*Event) {}
