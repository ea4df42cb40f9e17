package declared

import (
	"bytes"
	"encoding/json"
)

// condition is a compiled Condition.
type condition struct {
	pointer    int
	at         string
	any        bool
	is, sorted template
	like       template
}

// pattern is a compiled Pattern.
type pattern struct {
	like  template
	where []condition
}

// message is a text, with the locations of the values that the declaration refers to.
type message struct {
	text  []byte
	found []span
}

// matches reports whether a message matches the pattern with these values.
func (p *pattern) matches(m message, v *Values) bool {
	if p.like != nil {
		return p.like.match(m.text, v)
	}
	for i := range p.where {
		if !p.where[i].holds(m, v) {
			return false
		}
	}
	return true
}

// holds compares JSON: first byte by byte, then regardless of blanks, escapes and the order of members.
func (c *condition) holds(m message, v *Values) bool {
	where := m.found[c.pointer]
	if !where.exists() {
		return false
	}
	raw := where.of(m.text)
	if c.any {
		return true
	}
	before := *v
	if c.is.match(raw, v) {
		return true
	}
	*v = before
	if !hasForms(raw) {
		return false
	}
	if text, ok := c.sorted.constant(); ok && isEmpty(text) {
		return isEmpty(raw) && raw[0] == text[0]
	}
	text, ok := canonical(raw)
	return ok && c.sorted.match(text, v)
}

// content reads the content of a string or a number.
func (c *condition) content(m message, v *Values) (found, understood bool) {
	where := m.found[c.pointer]
	if !where.exists() {
		return false, false
	}
	return true, c.like.match(content(where.of(m.text)), v)
}

// hasForms reports whether a value has several equivalent notations.
func hasForms(raw []byte) bool {
	return raw[0] == '{' || raw[0] == '[' || raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0
}

// isEmpty reports whether a value is an object without members or an array without items.
func isEmpty(raw []byte) bool {
	return (raw[0] == '{' || raw[0] == '[') && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

// canonical returns a value without blanks, with as few escapes as possible, and with members sorted by name.
func canonical(raw []byte) ([]byte, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
}
