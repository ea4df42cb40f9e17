package declared

import (
	"fmt"
	"slices"
)

// mostReceipts is the largest number of receipts that a stream can owe.
const mostReceipts = 100_000

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

func (c *compiler) request(r *Request) {
	if r == nil {
		return
	}
	p := c.made
	switch {
	case !slices.Contains(methods, r.Method):
		c.fail(fmt.Errorf("request: method %q: expected one of %v", r.Method, methods))
	case r.Status < 200 || r.Status > 599:
		c.fail(fmt.Errorf("request: status %d: expected 200 to 599", r.Status))
	case r.Method == "GET" && len(p.send) > 0:
		c.fail(fmt.Errorf("request: a GET sends nothing"))
	case len(p.opening) > 0 || p.join != nil || len(p.leave) > 0 || p.KeepAlive > 0 || p.aliveAsked != nil:
		c.fail(fmt.Errorf("request: a request has no open, join, leave or keep_alive"))
	}
	p.Varies = p.path.varies() || p.query.varies()
	for _, each := range p.headers {
		p.Varies = p.Varies || each.value.varies()
		if !each.value.oneLine() {
			c.fail(fmt.Errorf("headers: %s: not one line of text", each.name))
		}
	}
	if s := r.Stream; s != nil {
		if s.Receipts < 1 || s.Receipts > mostReceipts {
			c.fail(fmt.Errorf("stream: %d receipts: expected 1 to %d", s.Receipts, mostReceipts))
		}
		if s.Number != "" && s.Number != EventID {
			p.number = c.pointer(s.Number)
		}
	}
	p.Request = r
}

// varies reports whether a template differs between two messages of a client.
func (t template) varies() bool {
	return slices.ContainsFunc(t, func(p piece) bool { return p.kind == ident || p.kind == moment })
}

// oneLine reports whether a template contains no control character, secrets and rows included.
func (t template) oneLine() bool {
	for _, piece := range t {
		for _, text := range append([][]byte{piece.text}, piece.rows...) {
			for _, c := range text {
				if c < ' ' || c == 0x7f {
					return false
				}
			}
		}
	}
	return true
}

// Owes returns how many receipts an answer owes.
func (r *Request) Owes() int {
	if r.Stream == nil {
		return 1
	}
	return r.Stream.Receipts
}

// Event interprets an event, with this id and data, of a stream that answers a message.
func (r *Reader) Event(id, data []byte, asked Values) Meaning {
	p := r.protocol
	if end := p.Request.Stream.End; end != "" && string(data) == end {
		return Meaning{Kind: Ended, At: "sse.end"}
	}
	meaning := r.Answer(data, asked)
	if meaning.Kind != Delivered || p.Request.Stream.Number == "" {
		return meaning
	}
	if p.number >= 0 {
		if id = nil; r.found[p.number].exists() {
			id = content(r.found[p.number].of(data))
		}
	}
	index := int64(unsaid)
	if rest, ok := number(id, &index); !ok || len(rest) > 0 {
		return r.meaning(Altered, "sse.number", "an event whose number is %.40q: %.60q", id, data)
	}
	meaning.Index = index
	return meaning
}

// Answer interprets an answer to a message.
func (r *Reader) Answer(text []byte, asked Values) Meaning {
	p, m, v := r.protocol, message{text, r.found}, asked
	if p.json && p.finder.count > 0 && !p.finder.find(text, r.found) {
		return r.meaning(Foreign, "format", "no JSON: %.60q", text)
	}
	for i := range p.ignored { // first, because the chunk that begins a stream may look like a token
		if r.concerns(&p.ignored[i], m) {
			return Meaning{Kind: Ignored}
		}
	}
	if p.received.matches(m, &v) {
		meaning := r.delivered(m, v)
		meaning.Index = unsaid
		return meaning
	}
	if p.refusal != nil && r.concerns(p.refusal, m) {
		return Meaning{Kind: Refused, At: "error", Reason: p.Redact(r.reason(m))}
	}
	if p.Request.Stream == nil {
		return r.meaning(Foreign, "message.received", "another answer: %.60q", text)
	}
	return r.meaning(Foreign, "ignore", "an event that is not declared: %.60q", text)
}

// Sends reports whether messages have content.
func (p *Protocol) Sends() bool { return len(p.send) > 0 }

// MediaType returns the media type of requests.
func (p *Protocol) MediaType() string {
	if p.json {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}
