package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/http1"
	"github.com/pushbench/pushbench/k6/internal/sse"
)

// pollPeriod is the poll period of clients that poll by a schedule.
const pollPeriod = time.Second

func init() {
	register("location-poll", Protocol{
		Others: true, Newest: true, PollPeriod: pollPeriod,
		newMember: func(target *url.URL, id Identity) Session { return newLocationPoll(target, id, "") },
	})
	register("location-long-poll", Protocol{
		Others: true, Newest: true, newAside: newLocationPuts,
		newMember: func(target *url.URL, id Identity) Session { return newLocationPoll(target, id, "&wait=25") },
	})
	register("location-sse", Protocol{Others: true, newMember: newLocationEvents, newAside: newLocationPuts})
}

// locationPath returns a path below the client's group.
func locationPath(target *url.URL, id Identity, what string) string {
	return target.EscapedPath() + "/groups/" + id.Group + "/" + what
}

// mustAppend appends a request whose URL was parsed before.
func mustAppend(buf []byte, request *http1.Request) []byte {
	buf, err := request.Append(buf)
	if err != nil {
		panic(err)
	}
	return buf
}

// asked is the kind of request to which an answer belongs.
type asked uint8

const (
	askedNews asked = iota
	askedPut
)

// locationPut writes the PUT requests for positions.
type locationPut struct {
	positions
	request http1.Request
}

func newLocationPut(target *url.URL, id Identity) locationPut {
	p := newPositions(id)
	return locationPut{positions: p, request: http1.Request{
		Method: "PUT", Target: locationPath(target, id, "positions/"+string(p.user(nil))), Host: target.Host,
		Fields: []http1.Field{{Name: "Content-Type", Value: "application/json"}},
	}}
}

func (l *locationPut) put(buf []byte, seq uint32, due time.Duration) []byte {
	l.request.Body = l.position(l.request.Body[:0], seq, due)
	return mustAppend(buf, &l.request)
}

// putAnswered interprets the answer to a PUT.
func putAnswered(status int, event *Event) {
	if event.Kind = Other; status != 204 {
		event.refuse("HTTP " + strconv.Itoa(status) + " to a position")
	}
}

// mostAnswer bounds the part of an answer that is kept.
const mostAnswer = 64 << 10

var errLongAnswer = fmt.Errorf("answer larger than %d bytes", mostAnswer)

// answers reads complete answers of one connection, in the order of the requests.
type answers struct {
	reader http1.Reader
	asked  []asked // requests not answered yet
	body   []byte
}

// next reads up to the end of an answer. It returns the kind of request it answers, and whether an answer was complete.
// The body is valid until the next call.
func (a *answers) next(data []byte) (to asked, found bool, taken int, err error) {
	for {
		part, n, err := a.reader.Next(data[taken:])
		taken += n
		switch {
		case err != nil || part.Kind == http1.Nothing:
			return 0, false, taken, err
		case len(a.asked) == 0:
			return 0, false, taken, errUnasked
		case part.Kind == http1.Header:
			a.body = a.body[:0]
		case part.Kind == http1.Body:
			if a.body = append(a.body, part.Data...); len(a.body) > mostAnswer {
				return 0, false, taken, errLongAnswer
			}
		case part.Kind == http1.End:
			to = a.asked[0]
			a.asked = append(a.asked[:0], a.asked[1:]...)
			return to, true, taken, nil
		}
	}
}

// silent is embedded in sessions that send nothing at their beginning and end.
type silent struct{}

func (silent) Open(buf []byte) []byte  { return buf }
func (silent) Join(buf []byte) []byte  { return buf }
func (silent) Leave(buf []byte) []byte { return buf }
func (silent) Close(buf []byte) []byte { return buf }
func (silent) End(*Event) error        { return io.EOF }

// locationPuts is the second connection of a client, over which the client puts its positions.
type locationPuts struct {
	silent
	locationPut
	answers answers
}

func newLocationPuts(target *url.URL, id Identity) Session {
	return &locationPuts{locationPut: newLocationPut(target, id)}
}

// Message implements Session, as does Next.
func (l *locationPuts) Message(buf []byte, seq uint32, due time.Duration) []byte {
	l.answers.asked = append(l.answers.asked, askedPut)
	return l.put(buf, seq, due)
}

func (l *locationPuts) Next(data []byte, event *Event) (int, error) {
	*event = Event{}
	_, found, taken, err := l.answers.next(data)
	if found {
		putAnswered(l.answers.reader.Status(), event)
	}
	return taken, err
}

// atLocation are the events of a member before any bytes arrive.
var atLocation = []Kind{Opened, Ready}

// locationPoll implements the protocols location-poll and location-long-poll: news arrives in answers, which the server
// may hold back.
type locationPoll struct {
	silent
	locationPut
	opening []Kind
	answers answers
	news    http1.Request
	path    []byte // the path of the news, up to the version
	wait    string // part of the query if the server may hold the answer back
	asking  bool   // a request for news is open
	joined  bool
	again   bool // poll as soon as the last news is handed out
	version int64
	reply   []byte
}

func newLocationPoll(target *url.URL, id Identity, wait string) Session {
	put := newLocationPut(target, id)
	path := append(put.user([]byte(locationPath(target, id, "positions?user="))), "&since="...)
	return &locationPoll{
		locationPut: put, opening: atLocation, path: path, wait: wait, news: http1.Request{Method: "GET", Host: target.Host},
	}
}

// Join requests the first news, once.
func (l *locationPoll) Join(buf []byte) []byte { return l.Poll(buf) }

// Poll implements Poller.
func (l *locationPoll) Poll(buf []byte) []byte {
	if l.asking {
		return buf
	}
	l.asking = true
	l.answers.asked = append(l.answers.asked, askedNews)
	if l.joined {
		l.news.Target = string(strconv.AppendInt(l.path, l.version, 10)) + l.wait
	} else {
		l.news.Target = string(bytes.TrimSuffix(l.path, []byte("&since="))) + l.wait
	}
	return mustAppend(buf, &l.news)
}

// Message implements Session, as does Next.
func (l *locationPoll) Message(buf []byte, seq uint32, due time.Duration) []byte {
	l.answers.asked = append(l.answers.asked, askedPut)
	return l.put(buf, seq, due)
}

func (l *locationPoll) Next(data []byte, event *Event) (int, error) {
	*event = Event{}
	switch {
	case len(l.opening) > 0:
		event.Kind, l.opening = l.opening[0], l.opening[1:]
		return 0, nil
	case l.next(event):
		return 0, nil
	case l.again && len(data) > 0:
		return 0, errUnasked
	case l.again:
		l.again = false
		l.reply = l.Poll(l.reply[:0])
		event.Kind, event.Reply = Other, l.reply
		return 0, nil
	}
	to, found, taken, err := l.answers.next(data)
	switch {
	case !found:
	case to == askedPut:
		putAnswered(l.answers.reader.Status(), event)
	default:
		l.forget()
		l.answered(event)
	}
	return taken, err
}

// answered interprets an answer with news. A client whose answers are held back ends the connection after a refusal,
// because it would ask again at once.
func (l *locationPoll) answered(event *Event) {
	l.asking = false
	if status := l.answers.reader.Status(); status != 200 {
		if event.refuse("HTTP " + strconv.Itoa(status) + " to a poll"); l.joined && l.wait != "" {
			event.Kind = Closed
		}
		return
	}
	version, err := l.read(l.answers.body)
	if err == nil || version > 0 {
		l.version = version
	}
	switch {
	case err != nil:
		event.corrupt("%v", err)
	case l.joined:
		event.Kind = Other
	default:
		l.joined, event.Kind = true, Joined
	}
	l.again = l.joined && l.wait != ""
}

// locationEvents is the protocol location-sse: news arrives as server-sent events.
type locationEvents struct {
	silent
	positions
	opening []Kind
	request []byte
	asked   bool
	joined  bool
	reader  http1.Reader
	events  sse.Reader
	piece   []byte // the part of the body not interpreted yet
}

var errMessage = errors.New("a message on the connection of a stream")

func newLocationEvents(target *url.URL, id Identity) Session {
	l := &locationEvents{positions: newPositions(id), opening: atLocation}
	l.request = mustAppend(nil, &http1.Request{
		Method: "GET", Host: target.Host, Target: locationPath(target, id, "events?user="+string(l.user(nil))),
		Fields: []http1.Field{{Name: "Accept", Value: "text/event-stream"}},
	})
	return l
}

// Join requests the stream, once.
func (l *locationEvents) Join(buf []byte) []byte {
	if l.asked {
		return buf
	}
	l.asked = true
	return append(buf, l.request...)
}

// Message implements Session, as does Next. Messages go over the second connection.
func (l *locationEvents) Message([]byte, uint32, time.Duration) []byte { panic(errMessage) }

func (l *locationEvents) Next(data []byte, event *Event) (taken int, err error) {
	*event = Event{}
	if len(l.opening) > 0 {
		event.Kind, l.opening = l.opening[0], l.opening[1:]
		return 0, nil
	}
	if !l.next(event) {
		l.understand(event)
	}
	for event.Kind == Nothing {
		found, n, err := l.reader.Next(data[taken:])
		taken += n
		switch {
		case err != nil || found.Kind == http1.Nothing:
			return taken, err
		case !l.asked:
			return taken, errUnasked
		case found.Kind == http1.Header:
			l.header(found.Data, event)
		case found.Kind == http1.Body:
			l.piece = found.Data
			l.understand(event)
		case found.Kind == http1.End:
			event.Kind, event.Reason = Closed, "the server ended a stream"
		}
	}
	return taken, nil
}

func (l *locationEvents) header(section []byte, event *Event) {
	kind := http1.Value(section, "Content-Type")
	switch status := l.reader.Status(); {
	case status != 200:
		event.Kind, event.Reason = Closed, "HTTP "+strconv.Itoa(status)+" to a request for a stream"
	case !bytes.HasPrefix(kind, []byte("text/event-stream")):
		event.Kind, event.Reason = Closed, fmt.Sprintf("a stream of Content-Type %.60q", kind)
	}
}

// understand interprets the current piece of the stream, up to its next event.
func (l *locationEvents) understand(event *Event) {
	for len(l.piece) > 0 && event.Kind == Nothing {
		news, n, found, err := l.events.Next(l.piece)
		l.piece = l.piece[n:]
		if err != nil {
			event.Kind, event.Reason = Closed, err.Error()
			return
		}
		if !found {
			return
		}
		version, err := l.read(news.Data)
		switch id, rest, ok := number(news.ID); {
		case err != nil:
			event.corrupt("%v", err)
			l.forget()
		case !ok || len(rest) > 0 || id != version:
			event.corrupt("an event with id %.40q of version %d", news.ID, version)
			l.forget()
		case !l.joined:
			l.joined, event.Kind = true, Joined
			l.forget() // it describes what happened before the client joined
		default:
			l.next(event)
		}
	}
}
