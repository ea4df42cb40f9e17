// Package sse reads server-sent events, the text/event-stream of the HTML standard, on byte slices. It does no I/O. It
// copies only events that arrive in pieces, events with several lines of data, and the last id. It does not check that
// text is UTF-8.
package sse

import (
	"fmt"
	"math"
	"time"
)

// MaxEvent bounds each line, and the data, name and id of an event together. It equals the limit of package wire for a
// message.
const MaxEvent = 1 << 20

// ErrTooLarge is the error for a server that sends more than a client holds. The connection must be closed.
var ErrTooLarge = fmt.Errorf("event or line larger than %d bytes", MaxEvent)

const byteOrderMark = "\xef\xbb\xbf"

// Event is one event. Its slices alias the argument of Next or the Reader, and are valid until the next call.
type Event struct {
	Data []byte
	Name []byte // empty means "message"
	ID   []byte // of this event, or else of the last event before it with an id
}

// Reader reads the events of one stream. The zero value waits for its first byte.
type Reader struct {
	lastID  []byte
	parts   *parts // of the event in progress; nil before the first event that arrives in pieces
	retry   uint32 // milliseconds plus 1; 0 if the server did not set it
	mark    uint8  // bytes read of the byte order mark; all of them once the stream has begun
	inEvent bool   // parts has an event in progress
	skipLF  bool   // the last line ended in a CR, which an LF may follow
}

// LastID returns the id of the last complete event that had one, for the header field Last-Event-ID. It is valid until
// the next call of Next.
func (r *Reader) LastID() []byte { return r.lastID }

// Retry returns how long the server asks clients to wait before they reconnect, if it has said so.
func (r *Reader) Retry() (pause time.Duration, said bool) {
	return time.Duration(max(r.retry, 1)-1) * time.Millisecond, r.retry > 0
}

// Restart prepares for another stream of the same source. An event in progress is dropped; LastID and Retry are kept.
func (r *Reader) Restart() {
	r.mark, r.inEvent, r.skipLF = 0, false, false
	if r.parts != nil {
		r.parts.reset()
	}
}

// Next reads the next event. It returns how many bytes of data it took: all of them if no event was found. The data of
// the next call begins with the byte after these.
func (r *Reader) Next(data []byte) (event Event, n int, found bool, err error) {
	n = r.begin(data)
	for {
		if !r.inEvent {
			event, size, found := r.nextWhole(data[n:])
			n += size
			if found || n == len(data) {
				return event, n, found, nil
			}
			r.beginParts()
		}
		event, size, found, err := r.nextInParts(data[n:])
		n += size
		if found || err != nil || r.inEvent {
			return event, n, found, err
		}
	}
}

// begin skips a byte order mark at the beginning of the stream, and the LF of a CR LF that arrived in pieces.
func (r *Reader) begin(data []byte) (n int) {
	for int(r.mark) < len(byteOrderMark) {
		switch {
		case n == len(data):
			return n
		case data[n] == byteOrderMark[r.mark]:
			r.mark++
			n++
			continue
		case r.mark > 0: // the first bytes only looked like one
			r.beginParts()
			r.parts.line = append(r.parts.line, byteOrderMark[:r.mark]...)
		}
		r.mark = uint8(len(byteOrderMark))
		return n
	}
	if r.skipLF && len(data) > 0 {
		r.skipLF = false
		if data[0] == '\n' {
			return 1
		}
	}
	return n
}

// nextWhole reads the next event if it is complete and has one line of data. It consumes nothing of other events.
func (r *Reader) nextWhole(data []byte) (event Event, n int, found bool) {
	var f fields
	for i := 0; ; {
		line, size := cutLine(data[i:])
		i += size
		if size == 0 || i-n > MaxEvent {
			return Event{}, n, false
		}
		if len(line) > 0 {
			name, value := cutField(line)
			if name == dataField && f.hasData {
				return Event{}, n, false
			}
			r.alias(&f, name, value)
			continue
		}
		n = i // an LF that arrives later adds an empty line, which changes nothing
		if event, found = r.dispatch(&f); found {
			return event, n, true
		}
		f = fields{}
	}
}

// beginParts begins to copy the event in progress.
func (r *Reader) beginParts() {
	if r.inEvent = true; r.parts == nil {
		r.parts = &parts{}
	}
}

// nextInParts reads up to the end of the event in progress, and keeps a copy of each line until then.
func (r *Reader) nextInParts(data []byte) (event Event, n int, found bool, err error) {
	p := r.parts
	for {
		line, size := cutLine(data[n:])
		if size == 0 {
			p.line = append(p.line, data[n:]...)
			return Event{}, len(data), false, p.check(p.line)
		}
		n += size
		r.skipLF = n == len(data) && data[n-1] == '\r'
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line = p.line
		}
		if len(line) == 0 {
			event, found = r.dispatch(&p.fields)
			r.inEvent = false
			p.reset()
			return event, n, found, nil
		}
		name, value := cutField(line)
		r.keep(p, name, value)
		err := p.check(line)
		p.line = p.line[:0]
		if err != nil {
			return Event{}, n, false, err
		}
	}
}

// dispatch handles an empty line as the standard requires. There is no event if no line had data.
func (r *Reader) dispatch(f *fields) (event Event, found bool) {
	if f.hasID {
		r.lastID = append(r.lastID[:0], f.id...)
	}
	if !f.hasData {
		return Event{}, false
	}
	return Event{Data: f.data, Name: f.name, ID: r.lastID}, true
}

// setRetry sets the value of a retry field, which counts only if it consists of digits.
func (r *Reader) setRetry(value []byte) {
	pause := uint32(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return
		}
		pause = min(pause, math.MaxInt32/10-1)*10 + uint32(c-'0')
	}
	if len(value) > 0 {
		r.retry = pause + 1
	}
}
