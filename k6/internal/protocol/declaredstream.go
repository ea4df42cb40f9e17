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

// declareStream makes a protocol of requests whose answers are streams.
func declareStream(compiled *declared.Protocol) (Protocol, error) {
	trial := newDeclaredStream(compiled, &url.URL{Host: "localhost"}, Identity{})
	if _, err := trial.request.Append(nil); err != nil {
		return Protocol{}, fmt.Errorf("declared protocol: %w", err)
	}
	return Protocol{
		mostParts: declared.MostParts, Receipts: compiled.Stream.Receipts,
		newRequests: func(target *url.URL, id Identity) Requests { return newDeclaredStream(compiled, target, id) },
	}, nil
}

// declaredStream plays a declaration of streams, one after the other.
type declaredStream struct {
	protocol *declared.Protocol
	reader   declared.Reader
	writer   declared.Writer
	request  http1.Request
	events   sse.Reader
	epoch    int64 // microseconds
	number   int64 // of the client
	message  int64 // the id of the open request
	came     int   // receipts of the open request
	refused  bool  // the answer has no events
	ended    bool
}

func newDeclaredStream(p *declared.Protocol, target *url.URL, id Identity) *declaredStream {
	values := valuesOf(id)
	own := *target
	path, query := p.Location(values)
	own.Path, own.RawQuery = own.Path+path, query
	header := p.Header(values)
	if header.Get("Accept") == "" {
		header.Set("Accept", "text/event-stream")
	}
	if p.Stream.Method == "POST" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", p.MediaType())
	}
	made := &declaredStream{
		protocol: p, reader: p.NewReader(values), writer: p.NewWriter(values), epoch: id.Epoch.UnixMicro(),
		number:  values.Client,
		request: http1.Request{Method: p.Stream.Method, Target: own.RequestURI(), Host: target.Host},
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			made.request.Fields = append(made.request.Fields, http1.Field{Name: name, Value: value})
		}
	}
	return made
}

// Request is of Requests, as are the methods below.
func (d *declaredStream) Request(buf []byte, seq uint32, due time.Duration) []byte {
	d.events = sse.Reader{}
	d.message, d.came, d.refused, d.ended = declared.ID(d.number, seq), 0, false, false
	d.request.Body = d.writer.Message(d.request.Body[:0], seq, d.epoch+due.Microseconds())
	buf, err := d.request.Append(buf)
	if err != nil {
		panic(err) // Declare tried it
	}
	return buf
}

func (d *declaredStream) Header(status int, section []byte, event *Event) {
	d.refused = true
	if status != 200 {
		event.refuse("HTTP " + strconv.Itoa(status))
		return
	}
	if kind := http1.Value(section, "Content-Type"); !bytes.HasPrefix(kind, []byte("text/event-stream")) {
		event.corrupt("a stream of Content-Type %.60q", kind)
		return
	}
	d.refused = false
}

func (d *declaredStream) Body(piece []byte, event *Event) (taken int) {
	for !d.refused && event.Kind == Nothing && taken < len(piece) {
		found, n, ok, err := d.events.Next(piece[taken:])
		taken += n
		switch {
		case err != nil:
			event.corrupt("%v", err)
			return len(piece)
		case ok && d.ended:
			event.corrupt("an event after the end of the stream")
		case ok:
			d.understand(found, event)
		}
	}
	if event.Kind == Nothing {
		return len(piece)
	}
	return taken
}

func (d *declaredStream) understand(found sse.Event, event *Event) {
	meaning := d.reader.Event(found.Data, d.message)
	switch meaning.Kind {
	case declared.Delivered:
		index, ok := d.index(found.ID)
		if !ok {
			event.corrupt("an event with id %s", d.protocol.Redact(fmt.Sprintf("%.40q", found.ID)))
			return
		}
		event.Kind, event.Index = Receipt, index
		d.came++
	case declared.Ended:
		d.ended = true
	case declared.Refused:
		event.refuse(meaning.Reason)
	case declared.Ignored:
	default:
		event.Kind, event.Reason = Corrupt, meaning.Reason
	}
}

// index is the place of a receipt in its stream.
func (d *declaredStream) index(id []byte) (int, bool) {
	if !d.protocol.Stream.Numbered {
		return d.came, true
	}
	index, rest, ok := number(id)
	return int(index), ok && len(rest) == 0
}

// End notices a stream that owes nothing more, but was not ended as declared. Of others, what they owe is lost.
func (d *declaredStream) End(event *Event) {
	if d.protocol.Stream.End != "" && !d.ended && !d.refused && d.came >= d.protocol.Stream.Receipts {
		event.corrupt("a stream without its end")
	}
}
