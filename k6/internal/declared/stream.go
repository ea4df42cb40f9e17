package declared

import "fmt"

// mostReceipts is how many receipts a stream can owe.
const mostReceipts = 100_000

func (c *compiler) stream(s *Stream) {
	if s == nil {
		return
	}
	p := c.made
	switch {
	case s.Method != "GET" && s.Method != "POST":
		c.fail(fmt.Errorf("stream: method %q: expected GET or POST", s.Method))
	case s.Receipts < 1 || s.Receipts > mostReceipts:
		c.fail(fmt.Errorf("stream: %d receipts: expected 1 to %d", s.Receipts, mostReceipts))
	case s.Method == "GET" && len(p.send) > 0:
		c.fail(fmt.Errorf("stream: a GET sends nothing"))
	case len(p.opening) > 0 || p.join != nil || len(p.leave) > 0 || p.KeepAlive > 0 || p.aliveAsked != nil:
		c.fail(fmt.Errorf("stream: a request has no open, join, leave or keep_alive"))
	}
	for _, each := range p.headers {
		if !each.value.oneLine() {
			c.fail(fmt.Errorf("headers: %s: not one line of text", each.name))
		}
	}
	p.Stream = s
}

// oneLine tells whether nothing in a template is a control character, secrets and rows included.
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

// Event understands the data of an event of a stream, which answers the message with this id.
func (r *Reader) Event(data []byte, id int64) Meaning {
	p, m := r.protocol, message{data, r.found}
	if end := p.Stream.End; end != "" && string(data) == end {
		return Meaning{Kind: Ended, At: "stream.end"}
	}
	if p.json && !p.finder.find(data, r.found) {
		return r.meaning(Foreign, "format", "no JSON: %.60q", data)
	}
	v := Values{r.own.Group, r.own.Client, id, unsaid}
	if p.received.matches(m, &v) {
		return Meaning{Kind: Delivered, ID: id, Time: unsaid}
	}
	if p.refusal != nil && r.concerns(p.refusal, m) {
		return Meaning{Kind: Refused, Reason: p.Redact(r.reason(m))}
	}
	for i := range p.ignored {
		if r.concerns(&p.ignored[i], m) {
			return Meaning{Kind: Ignored}
		}
	}
	return r.meaning(Foreign, "ignore", "an event that is not declared: %.60q", data)
}

// MediaType is what requests send.
func (p *Protocol) MediaType() string {
	if p.json {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}
