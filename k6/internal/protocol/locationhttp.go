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

// pollPeriod is the period of clients that poll by a schedule.
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

// locationPath is a path below the client's group.
func locationPath(target *url.URL, id Identity, what string) string {
	return target.EscapedPath() + "/groups/" + id.Group + "/" + what
}

// mustAppend appends a request that is made of a URL that was parsed.
func mustAppend(buf []byte, request *http1.Request) []byte {
	buf, err := request.Append(buf)
	if err != nil {
		panic(err)
	}
	return buf
}

// asked says which request an answer belongs to.
type asked uint8

const (
	askedNews asked = iota
	askedPut
)

// locationPut writes the requests that put positions.
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

// putAnswered understands the answer to a PUT.
func putAnswered(status int, event *Event) {
	if event.Kind = Other; status != 204 {
		event.refuse("HTTP " + strconv.Itoa(status) + " to a position")
	}
}

// mostAnswer bounds the kept part of an answer.
const mostAnswer = 64 << 10

var errLongAnswer = fmt.Errorf("answer larger than %d bytes", mostAnswer)

// answers reads the whole answers of one connection, in the order of the requests.
type answers struct {
	reader http1.Reader
	asked  []asked // and not answered
	body   []byte
}

// next reads up to the end of an answer. It tells what it answers, and whether there is one; the body holds until the
// next call.
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

// silent is the part of a session that sends nothing at its beginning and its end.
type silent struct{}

func (silent) Open(buf []byte) []byte  { return buf }
func (silent) Join(buf []byte) []byte  { return buf }
func (silent) Leave(buf []byte) []byte { return buf }
func (silent) Close(buf []byte) []byte { return buf }
func (silent) End(*Event) error        { return io.EOF }

// locationPuts is the second connection of a client, over which it puts its positions.
type locationPuts struct {
	silent
	locationPut
	answers answers
}

func newLocationPuts(target *url.URL, id Identity) Session {
	return &locationPuts{locationPut: newLocationPut(target, id)}
}

// Message is of Session, as is Next.
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

// atLocation are the events of a member before any bytes.
var atLocation = []Kind{Opened, Ready}

// locationPoll is the protocols location-poll and location-long-poll: news by answers, which a server may hold.
type locationPoll struct {
	silent
	locationPut
	opening []Kind
	answers answers
	news    http1.Request
	path    []byte // of the news, up to the version
	wait    string // of the query, where the server may hold the answer
	asking  bool   // for news
	joined  bool
	again   bool // asks as soon as the last news is handed out
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

// Join asks for the first news, once.
func (l *locationPoll) Join(buf []byte) []byte { return l.Poll(buf) }

// Poll is of Poller.
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

// Message is of Session, as is Next.
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

// answered understands an answer with news. A client whose answers are held ends the connection after a refusal, for it
// would ask again at once.
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

// locationEvents is the protocol location-sse: news by server-sent events.
type locationEvents struct {
	silent
	positions
	opening []Kind
	request []byte
	asked   bool
	joined  bool
	reader  http1.Reader
	events  sse.Reader
	piece   []byte // of the body, that was not understood yet
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

// Join asks for the stream, once.
func (l *locationEvents) Join(buf []byte) []byte {
	if l.asked {
		return buf
	}
	l.asked = true
	return append(buf, l.request...)
}

// Message is of Session, as is Next. Messages go over the second connection.
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

// understand goes on with the present piece of the stream, up to an event of it.
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
			l.forget() // it tells of what was before the client
		default:
			l.next(event)
		}
	}
}
