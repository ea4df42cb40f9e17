package declared

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Protocol is a compiled Declaration. All conversations of a load share it; it does not change.
type Protocol struct {
	Subprotocol string
	// Separator stands between the messages of one frame, and may end the last one. It is empty if a frame is one message.
	Separator []byte
	// Packed means that messages are MessagePack, which this package reads and writes as JSON.
	Packed bool
	// Others means that a message is owed only to the other members.
	Others bool
	// KeepAlive is how often members send a keep-alive; 0 for never.
	KeepAlive time.Duration
	// Request describes the request that carries each message; nil if clients are members of groups.
	Request *Request
	// Varies means that the target or the header differs from request to request.
	Varies bool

	json        bool
	number      int // pointer to a receipt's number; -1 for none
	rows        map[string][]string
	finder      *finder
	secrets     secrets
	path, query template
	headers     []header
	opening     []step
	join        *step
	send, leave template
	alive       template
	aliveAsked  *pattern
	aliveAnswer template
	received    pattern
	id, time    *condition
	same        []condition
	refusal     *pattern
	reason      int // pointer to its text; -1 for the whole message
	ignored     []pattern
}

type header struct {
	name  string
	value template
}

type step struct {
	key          string // key of its acknowledgement
	send         template
	acknowledged *pattern // nil if nothing is acknowledged
}

// compiler keeps the first error, so that its callers need not check each step.
type compiler struct {
	made *Protocol
	err  error
}

// Compile reads the secrets and makes a protocol.
func Compile(d Declaration) (*Protocol, error) {
	packed := d.Format == "msgpack"
	if d.Format != "json" && d.Format != "text" && !packed {
		return nil, fmt.Errorf("format %q: expected json, text or msgpack", d.Format)
	}
	if packed && (d.Separator != "" || d.Request != nil) {
		return nil, fmt.Errorf("format msgpack: each frame of a WebSocket is a message")
	}
	known, err := read(d.Secrets)
	if err != nil {
		return nil, err
	}
	c := compiler{made: &Protocol{
		Subprotocol: d.Subprotocol, Separator: []byte(d.Separator), Packed: packed, Others: d.Message.Others,
		json:    d.Format != "text",
		secrets: known, rows: d.Rows, finder: newFinder(), reason: -1, number: -1,
	}}
	c.transport(d)
	c.conversation(d)
	c.request(d.Request)
	c.receipt(d.Message.Received) // last, because the value of a receipt is the likeliest at a pointer
	if c.err != nil {
		return nil, c.err
	}
	return c.made, nil
}

func (c *compiler) transport(d Declaration) {
	c.made.path = c.template(d.Path, asIs) // the URL escapes it
	c.made.query = c.template(d.Query, url.QueryEscape)
	for _, each := range d.Headers {
		c.made.headers = append(c.made.headers, header{each.Name, c.template(each.Value, asIs)})
	}
}

func (c *compiler) conversation(d Declaration) {
	p := c.made
	for number, each := range d.Open {
		p.opening = append(p.opening, *c.step(OpenKey(number, len(d.Open)), &each))
	}
	p.join = c.step("join.acknowledged", d.Join)
	p.send, p.leave = c.payload(d.Message.Send), c.payload(d.Leave)
	if k := d.KeepAlive; k != nil {
		p.KeepAlive = time.Duration(k.EverySeconds * float64(time.Second))
		p.alive, p.aliveAnswer = c.payload(k.Send), c.payload(k.Answer)
		if k.Received != nil {
			p.aliveAsked = c.pattern(*k.Received)
		}
	}
	if d.Error != nil {
		p.refusal = c.pattern(d.Error.Pattern)
		if d.Error.Reason != "" {
			p.reason = c.pointer(d.Error.Reason)
		}
	}
	for _, each := range d.Ignore {
		p.ignored = append(p.ignored, *c.pattern(each))
	}
}

func (c *compiler) receipt(r Receipt) {
	p := c.made
	p.received = *c.pattern(r.Pattern)
	if !p.json {
		return
	}
	if r.ID == nil && p.Request == nil {
		c.fail(fmt.Errorf("message: nothing says where the id of a receipt is"))
		return
	}
	p.id, p.time = c.place(r.ID), c.place(r.Time)
	for _, each := range r.Same {
		made := c.condition(each)
		p.same = append(p.same, made)
		if text, ok := made.is.constant(); ok {
			p.finder.expect(made.pointer, text)
		}
	}
}

// place compiles the location of an id or a time; nil for none.
func (c *compiler) place(d *Condition) *condition {
	if d == nil {
		return nil
	}
	made := c.condition(*d)
	return &made
}

// OpenKey returns the key of what acknowledges a step of the opening.
func OpenKey(number, steps int) string {
	if steps == 1 {
		return "open.acknowledged"
	}
	return fmt.Sprintf("open.%d.acknowledged", number)
}

func (c *compiler) step(key string, s *Step) *step {
	if s == nil {
		return nil
	}
	made := &step{key: key, send: c.payload(s.Send)}
	if s.Acknowledged != nil {
		made.acknowledged = c.pattern(*s.Acknowledged)
	}
	return made
}

func (c *compiler) pattern(p Pattern) *pattern {
	made := &pattern{}
	if !c.made.json {
		made.like = c.payload(p.Like)
		return made
	}
	for _, each := range p.Where {
		condition := c.condition(each)
		made.where = append(made.where, condition)
		if text, ok := condition.is.constant(); ok {
			c.made.finder.expect(condition.pointer, text)
		}
	}
	return made
}

func (c *compiler) condition(d Condition) condition {
	made := condition{
		pointer: c.pointer(d.At), at: d.At, is: c.payload(d.Is), sorted: c.payload(d.Sorted), like: c.payload(d.Like),
	}
	made.any = len(made.is) == 1 && made.is[0].kind == anything
	return made
}

func (c *compiler) pointer(at string) int {
	number, err := c.made.finder.add(at)
	c.fail(err)
	return number
}

// payload compiles a template of messages.
func (c *compiler) payload(t Template) template {
	if c.made.json {
		return c.template(t, escaped)
	}
	return c.template(t, asIs)
}

func (c *compiler) template(t Template, escape func(string) string) template {
	made, err := t.compile(c.made.secrets, c.made.rows, escape)
	c.fail(err)
	return made
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func asIs(text string) string { return text }

// Location returns the path and the query that a client dials.
func (p *Protocol) Location(v Values) (path, query string) {
	return string(p.path.append(nil, &v)), string(p.query.append(nil, &v))
}

// Header returns the header of a client's opening handshake, or of a request.
func (p *Protocol) Header(v Values) http.Header {
	made := http.Header{}
	for _, each := range p.headers {
		made.Add(each.name, string(each.value.append(nil, &v)))
	}
	return made
}

// Redact replaces secrets in a text that may be displayed.
func (p *Protocol) Redact(text string) string { return p.secrets.redact(text) }
