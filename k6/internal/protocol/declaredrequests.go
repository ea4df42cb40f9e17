package protocol

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/http1"
	"github.com/pushbench/pushbench/k6/internal/sse"
)

// mostBody is the size, in bytes, of the largest answer body that is read as a whole.
const mostBody = 1 << 20

// declareRequests makes a protocol from a declaration of requests.
func declareRequests(compiled *declared.Protocol) (Protocol, error) {
	trial := newDeclaredRequests(compiled, &url.URL{Host: "localhost"}, Identity{})
	if _, err := trial.request.Append(nil); err != nil {
		return Protocol{}, fmt.Errorf("declared protocol: %w", err)
	}
	return Protocol{
		mostParts: declared.MostParts, Receipts: compiled.Request.Owes(),
		newRequests: func(target *url.URL, id Identity) Requests {
			made := newDeclaredRequests(compiled, target, id)
			if compiled.Request.Stream == nil {
				return &declaredAnswers{declaredRequests: made}
			}
			return &declaredStreams{declaredRequests: made}
		},
	}, nil
}

// declaredRequests makes the requests of a declaration one after the other.
type declaredRequests struct {
	protocol *declared.Protocol
	reader   declared.Reader
	writer   declared.Writer
	target   url.URL
	request  http1.Request
	own      declared.Values
	asked    declared.Values // values of the open request
	epoch    int64           // microseconds
	refused  bool            // nothing more of the answer counts
	tap      func(text []byte, event *Event, key string)
}

func newDeclaredRequests(p *declared.Protocol, target *url.URL, id Identity) declaredRequests {
	own := valuesOf(id)
	made := declaredRequests{
		protocol: p, reader: p.NewReader(own), writer: p.NewWriter(own), target: *target, own: own,
		epoch: id.Epoch.UnixMicro(), request: http1.Request{Method: p.Request.Method, Host: target.Host},
	}
	made.address(own)
	return made
}

// address makes the target and the header of a request.
func (d *declaredRequests) address(values declared.Values) {
	target, header := d.target, d.protocol.Header(values)
	path, query := d.protocol.Location(values)
	target.Path, target.RawQuery = target.Path+path, query
	d.request.Target = target.RequestURI()
	if header.Get("Accept") == "" {
		header.Set("Accept", d.accepted())
	}
	if d.protocol.Sends() && header.Get("Content-Type") == "" {
		header.Set("Content-Type", d.protocol.MediaType())
	}
	d.request.Fields = d.request.Fields[:0]
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			d.request.Fields = append(d.request.Fields, http1.Field{Name: name, Value: value})
		}
	}
}

func (d *declaredRequests) accepted() string {
	if d.protocol.Request.Stream == nil {
		return "*/*"
	}
	return "text/event-stream"
}

// begin writes a request.
func (d *declaredRequests) begin(buf []byte, seq uint32, due time.Duration) []byte {
	at := d.epoch + due.Microseconds()
	d.asked, d.refused = d.own.With(seq, at), false
	d.request.Body = d.writer.Message(d.request.Body[:0], seq, at)
	if d.protocol.Varies {
		d.address(d.asked)
	}
	from := len(buf)
	buf, err := d.request.Append(buf)
	if err != nil {
		panic(err) // Declare has tried it
	}
	d.tell(buf[from:], nil, "")
	return buf
}

// accept reads the status of an answer. If it is not the declared one, nothing of the answer counts.
func (d *declaredRequests) accept(status int, section []byte, event *Event) {
	if d.refused = status != d.protocol.Request.Status; d.refused {
		event.refuse("HTTP " + strconv.Itoa(status))
	}
	d.tell(section, event, d.key("status"))
}

// key returns the full name of a key of the declaration's transport.
func (d *declaredRequests) key(name string) string {
	if d.protocol.Request.Stream == nil {
		return "http." + name
	}
	return "sse." + name
}

// corrupt makes the event a Corrupt: the answer violates a key of the declaration.
func (d *declaredRequests) corrupt(event *Event, text []byte, key, format string, values ...any) {
	event.corrupt("%s", d.protocol.Redact(fmt.Sprintf(format, values...)))
	d.tell(text, event, key)
}

// tell calls the tap, if there is one.
func (d *declaredRequests) tell(text []byte, event *Event, key string) {
	if d.tap != nil {
		d.tap(text, event, key)
	}
}

func (d *declaredRequests) listen(tap func(text []byte, event *Event, key string)) { d.tap = tap }

// declaredStreams makes requests whose answers are streams.
type declaredStreams struct {
	declaredRequests
	events sse.Reader
	came   int // receipts of the open request so far
	ended  bool
}

// Request implements Requests, as do the methods below.
func (d *declaredStreams) Request(buf []byte, seq uint32, due time.Duration) []byte {
	d.events, d.came, d.ended = sse.Reader{}, 0, false
	return d.begin(buf, seq, due)
}

func (d *declaredStreams) Header(status int, section []byte, event *Event) {
	if d.accept(status, section, event); d.refused {
		return
	}
	if kind := http1.Value(section, "Content-Type"); !bytes.HasPrefix(kind, []byte("text/event-stream")) {
		d.refused = true
		d.corrupt(event, section, "sse", "a stream of Content-Type %.60q", kind)
	}
}

func (d *declaredStreams) Body(piece []byte, event *Event) (taken int) {
	if d.refused {
		d.tell(piece, event, "")
	}
	for !d.refused && event.Kind == Nothing && taken < len(piece) {
		found, n, ok, err := d.events.Next(piece[taken:])
		taken += n
		switch {
		case err != nil:
			d.corrupt(event, piece, "sse", "%v", err)
			return len(piece)
		case ok && d.ended:
			d.corrupt(event, found.Data, "sse.end", "an event after the end of the stream")
		case ok:
			d.understand(found, event)
		}
	}
	if event.Kind == Nothing {
		return len(piece)
	}
	return taken
}

func (d *declaredStreams) understand(found sse.Event, event *Event) {
	meaning := d.reader.Event(found.ID, found.Data, d.asked)
	switch meaning.Kind {
	case declared.Delivered:
		event.Kind, event.Index = Receipt, int(meaning.Index)
		if meaning.Index < 0 {
			event.Index = d.came
		}
		d.came++
	case declared.Ended:
		d.ended = true
	case declared.Refused:
		event.refuse(meaning.Reason)
	case declared.Ignored:
	default:
		event.Kind, event.Reason = Corrupt, meaning.Reason
	}
	d.tell(found.Data, event, meaning.At)
}

// End reports a stream that delivered everything it owes but did not end as declared. What other streams still owe is
// lost.
func (d *declaredStreams) End(event *Event) {
	if stream := d.protocol.Request.Stream; stream.End != "" && !d.ended && !d.refused && d.came >= stream.Receipts {
		d.corrupt(event, nil, "sse.end", "a stream without its end")
	}
}

// declaredAnswers makes requests whose answers are one receipt each.
type declaredAnswers struct {
	declaredRequests
	body []byte
}

// Request implements Requests, as do the methods below.
func (d *declaredAnswers) Request(buf []byte, seq uint32, due time.Duration) []byte {
	d.body = d.body[:0]
	return d.begin(buf, seq, due)
}

func (d *declaredAnswers) Header(status int, section []byte, event *Event) {
	d.accept(status, section, event)
}

func (d *declaredAnswers) Body(piece []byte, event *Event) int {
	switch {
	case d.refused:
		d.tell(piece, event, "")
	case len(d.body)+len(piece) > mostBody:
		d.refused = true
		d.corrupt(event, piece, "http", "a body of more than %d bytes", mostBody)
	default:
		d.body = append(d.body, piece...)
	}
	return len(piece)
}

func (d *declaredAnswers) End(event *Event) {
	if d.refused {
		return
	}
	meaning := d.reader.Answer(d.body, d.asked)
	switch meaning.Kind {
	case declared.Delivered:
		event.Kind = Receipt
	case declared.Refused:
		event.refuse(meaning.Reason)
	default:
		event.Kind, event.Reason = Corrupt, meaning.Reason
	}
	d.tell(d.body, event, meaning.At)
}
