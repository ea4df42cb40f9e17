package declared

import "fmt"

// Kind is the meaning of a message of the server.
type Kind int

// The kinds of meanings.
const (
	Foreign   Kind = iota // not declared; At and Reason say what was expected
	Delivered             // a message of a member; ID and Time are its own
	Opened                // acknowledges a step of the opening; At is its key
	Joined                // acknowledges a join
	Asked                 // a keep-alive that the client has to answer; At is its key
	Refused               // an error; Reason is its text
	Ignored               // ignored by the declaration
	Ended                 // ends a stream
	Altered               // a delivery whose content is not what its sender sent; At and Reason say where
)

// Meaning is the interpretation of a message.
type Meaning struct {
	Kind
	ID, Time int64 // of a delivery; Time is negative if the message has none
	Index    int64 // of a receipt in its stream; negative if the event has none
	// At is the key of the declaration that matches or is violated, such as message.id.
	At     string
	Reason string
}

// Reader reads the messages to one client. Its zero value cannot be used.
type Reader struct {
	protocol *Protocol
	own      Values // Group and Client
	found    []span
}

// NewReader makes a reader for a client.
func (p *Protocol) NewReader(own Values) Reader {
	return Reader{p, own, make([]span, p.finder.count)}
}

// Read interprets a message to a client that has completed that many steps of the opening.
func (r *Reader) Read(text []byte, steps int) Meaning {
	p, m := r.protocol, message{text, r.found}
	if p.json && !p.finder.find(text, r.found) {
		return r.meaning(Foreign, "format", "no %s: %.60q", p.encoding(), text)
	}
	v := Values{r.own.Group, unsaid, unsaid, unsaid}
	if p.received.matches(m, &v) {
		return r.delivered(m, v)
	}
	switch {
	case steps < len(p.opening) && r.acknowledges(&p.opening[steps], m):
		return Meaning{Kind: Opened, At: p.opening[steps].key}
	case r.acknowledges(p.join, m):
		return Meaning{Kind: Joined}
	case p.aliveAsked != nil && r.concerns(p.aliveAsked, m):
		return Meaning{Kind: Asked, At: "keep_alive.received"}
	case p.refusal != nil && r.concerns(p.refusal, m):
		return Meaning{Kind: Refused, Reason: p.Redact(r.reason(m))}
	}
	for i := range p.opening[:steps] { // a repeated acknowledgement
		if r.acknowledges(&p.opening[i], m) {
			return Meaning{Kind: Ignored}
		}
	}
	for i := range p.ignored {
		if r.concerns(&p.ignored[i], m) {
			return Meaning{Kind: Ignored}
		}
	}
	return r.meaning(Foreign, "ignore", "a message that is not declared: %.60q", text)
}

// encoding returns the name of the messages' format.
func (p *Protocol) encoding() string {
	if p.Packed {
		return "MessagePack"
	}
	return "JSON"
}

func (r *Reader) meaning(kind Kind, at, format string, values ...any) Meaning {
	return Meaning{Kind: kind, Time: unsaid, At: at, Reason: r.protocol.Redact(fmt.Sprintf(format, values...))}
}

// acknowledges reports whether a message acknowledges a step of this client.
func (r *Reader) acknowledges(s *step, m message) bool {
	return s != nil && s.acknowledged != nil && r.concerns(s.acknowledged, m)
}

// concerns reports whether a message matches the pattern for this client.
func (r *Reader) concerns(p *pattern, m message) bool {
	v := Values{r.own.Group, r.own.Client, unsaid, unsaid}
	return p.matches(m, &v)
}

// delivered interprets the rest of a delivery. The id of a message identifies its client.
func (r *Reader) delivered(m message, v Values) Meaning {
	p := r.protocol
	if p.json {
		if wrong, ok := r.content(p.id, "id", m, &v); !ok {
			return wrong
		}
		if wrong, ok := r.content(p.time, "time", m, &v); !ok {
			return wrong
		}
	}
	sender := v.ID / perClient
	if v.Client != unsaid && v.Client != sender {
		return r.meaning(Altered, "message.id", "message %d of client %d: %.60q", v.ID, v.Client, m.text)
	}
	v.Client = sender
	for i := range p.same {
		same := &p.same[i]
		switch {
		case !m.found[same.pointer].exists():
			return r.meaning(Altered, "message.same", "nothing at %s in message %d", same.at, v.ID)
		case !same.holds(m, &v):
			return r.meaning(Altered, "message.same", "message %d with %.60q at %s", v.ID,
				m.found[same.pointer].of(m.text), same.at)
		}
	}
	return Meaning{Kind: Delivered, ID: v.ID, Time: v.Time}
}

// content reads the id or the time of a delivery; c is nil if there is none.
func (r *Reader) content(c *condition, name string, m message, v *Values) (wrong Meaning, ok bool) {
	if c == nil {
		return Meaning{}, true
	}
	at := "message." + name
	switch found, understood := c.content(m, v); {
	case !found:
		return r.meaning(Altered, at, "the pointer %s finds nothing in %.60q", c.at, m.text), false
	case !understood && r.protocol.Request != nil:
		return r.meaning(Altered, at, "another %s than that of the request at %s: %.60q", name, c.at,
			m.found[c.pointer].of(m.text)), false
	case !understood:
		return r.meaning(Altered, at, "no %s at %s: %.60q", name, c.at, m.found[c.pointer].of(m.text)), false
	}
	return Meaning{}, true
}

// reason returns the text of an error.
func (r *Reader) reason(m message) string {
	if r.protocol.reason < 0 {
		return string(m.text)
	}
	where := m.found[r.protocol.reason]
	if !where.exists() {
		return string(m.text)
	}
	return string(content(where.of(m.text)))
}

// content returns the content of a string, or a number.
func content(raw []byte) []byte {
	if raw[0] == '"' {
		return unescaped(raw[1 : len(raw)-1])
	}
	return raw
}
