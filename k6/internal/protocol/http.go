package protocol

import (
	"errors"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
)

// Requests makes a client's HTTP requests and reads the answers, one request at a time.
type Requests interface {
	// Request appends a request to buf.
	Request(buf []byte, seq uint32, due time.Duration) []byte
	// Header reads the status and the header section of the answer. Like the methods below, it fills in an empty event,
	// and leaves it empty if the bytes mean nothing by themselves.
	Header(status int, section []byte, event *Event)
	// Body reads the next piece of the answer's body and returns how many bytes it took: all of them with Nothing.
	Body(piece []byte, event *Event) int
	// End takes the end of the answer.
	End(event *Event)
}

var errUnasked = errors.New("a response that nobody asked for")

// keptAlive is a session of requests over one persistent HTTP connection.
type keptAlive struct {
	requests Requests
	next     []Kind // events that are due without further bytes
	body     []byte // the part of the current piece not interpreted yet
	asked    bool
	reader   http1.Reader
}

// Events that follow without further bytes: the client sends nothing before its first request, and an answer is over
// once it was interpreted.
var (
	atOpening = []Kind{Opened, Joined}
	atEnd     = []Kind{Done}
)

func newKeptAlive(requests Requests) Session {
	return &keptAlive{requests: requests, next: atOpening}
}

// Open implements Session, as do the methods below. The client sends nothing before its first request, nor at the end.
func (k *keptAlive) Open(buf []byte) []byte  { return buf }
func (k *keptAlive) Join(buf []byte) []byte  { return buf }
func (k *keptAlive) Leave(buf []byte) []byte { return buf }
func (k *keptAlive) Close(buf []byte) []byte { return buf }

func (k *keptAlive) Message(buf []byte, seq uint32, due time.Duration) []byte {
	k.asked = true
	return k.requests.Request(buf, seq, due)
}

func (k *keptAlive) Next(data []byte, event *Event) (taken int, err error) {
	*event = Event{}
	if len(k.next) > 0 {
		event.Kind, k.next = k.next[0], k.next[1:]
		event.Last = event.Kind == Done && !k.reader.KeepAlive()
		return 0, nil
	}
	if len(k.body) > 0 {
		k.understandBody(event)
	}
	for event.Kind == Nothing {
		found, n, err := k.reader.Next(data[taken:])
		taken += n
		if err != nil || found.Kind == http1.Nothing {
			return taken, err
		}
		if !k.asked {
			return taken, errUnasked
		}
		k.understand(found, event)
	}
	return taken, nil
}

// End takes the end of the connection, which may end an answer.
func (k *keptAlive) End(event *Event) error {
	*event = Event{}
	found, err := k.reader.Close()
	if err == nil && found.Kind == http1.End {
		k.understand(found, event)
	}
	return err
}

func (k *keptAlive) understand(found http1.Event, event *Event) {
	switch found.Kind {
	case http1.Header:
		k.requests.Header(k.reader.Status(), found.Data, event)
	case http1.Body:
		k.body = found.Data
		k.understandBody(event)
	case http1.End:
		k.asked = false
		if k.requests.End(event); event.Kind != Nothing {
			k.next = atEnd
			return
		}
		event.Kind, event.Last = Done, !k.reader.KeepAlive()
	}
}

// understandBody interprets the rest of the current piece of a body.
func (k *keptAlive) understandBody(event *Event) {
	n := k.requests.Body(k.body, event)
	if k.body = k.body[n:]; event.Kind == Nothing || len(k.body) == 0 {
		k.body = nil
	}
}
