package declared

import (
	"bytes"
	"encoding/json"
)

// deepest is how deep a text may be nested: the limit of encoding/json.
const deepest = 10_000

// scanner reads one JSON text (RFC 8259) strictly, and records where the values of a finder are.
type scanner struct {
	text  []byte
	at    int
	depth int
	found []span
}

// find looks the values up; found needs a place for each pointer. It reports whether the text is JSON. Of members with
// the same name the last one counts, as in encoding/json.
func (f *finder) find(text []byte, found []span) bool {
	clear(found)
	s := scanner{text: text, found: found}
	s.space()
	if !s.value(&f.root) {
		return false
	}
	s.space()
	return s.at == len(text)
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// take reads one byte if it is the next one.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value reads a value; n is nil if no pointer leads to the value or into it.
func (s *scanner) value(n *node) bool {
	from := s.at
	if n == nil || !s.likely(n.likely) {
		if !s.any(n) {
			return false
		}
	}
	if n != nil && n.pointer >= 0 {
		s.found[n.pointer] = span{uint32(from), uint32(s.at)}
	}
	return true
}

// likely reads a value if it is as expected.
func (s *scanner) likely(value []byte) bool {
	if len(value) == 0 || !bytes.HasPrefix(s.text[s.at:], value) {
		return false
	}
	end := s.at + len(value)
	if last := value[len(value)-1]; last != '"' && last != ']' && last != '}' && end < len(s.text) {
		switch s.text[end] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
		default: // a number may continue
			return false
		}
	}
	s.at = end
	return true
}

func (s *scanner) any(n *node) bool {
	if s.at >= len(s.text) {
		return false
	}
	switch s.text[s.at] {
	case '{':
		return s.nested(s.object, n)
	case '[':
		return s.nested(s.array, n)
	case '"':
		_, ok := s.string()
		return ok
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.number()
}

func (s *scanner) nested(read func(*node) bool, n *node) bool {
	s.at++
	s.depth++
	ok := s.depth <= deepest && read(n)
	s.depth--
	return ok
}

func (s *scanner) object(n *node) bool {
	s.space()
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.string()
		if !ok {
			return false
		}
		var below *node
		if n != nil && len(n.edges) > 0 {
			if below = n.member(unescaped(name)); below != nil {
				s.forget(below)
			}
		}
		if s.space(); !s.take(':') {
			return false
		}
		if s.space(); !s.value(below) {
			return false
		}
		if s.space(); s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
}

func (s *scanner) array(n *node) bool {
	s.space()
	if s.take(']') {
		return true
	}
	for number := 0; ; number++ {
		var below *node
		if n != nil && len(n.edges) > 0 {
			below = n.item(number)
		}
		if !s.value(below) {
			return false
		}
		if s.space(); s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
}

// forget drops the values found in an earlier member of the same name.
func (s *scanner) forget(n *node) {
	for _, pointer := range n.below {
		s.found[pointer] = span{}
	}
}

// plain marks the bytes of a string that stand for themselves.
var plain = func() (table [256]bool) {
	for c := 0x20; c < 256; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// string reads a string and returns what is between its quotes.
func (s *scanner) string() (inside []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	from := s.at
	for {
		for s.at < len(s.text) && plain[s.text[s.at]] {
			s.at++
		}
		switch {
		case s.take('"'):
			return s.text[from : s.at-1], true
		case !s.take('\\') || !s.escape():
			return nil, false
		}
	}
}

func (s *scanner) escape() bool {
	if s.at >= len(s.text) {
		return false
	}
	c := s.text[s.at]
	s.at++
	if c != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0
	}
	for range 4 {
		if s.at >= len(s.text) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), s.text[s.at]) < 0 {
			return false
		}
		s.at++
	}
	return true
}

func (s *scanner) literal(word string) bool {
	if len(s.text)-s.at < len(word) || string(s.text[s.at:s.at+len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > from
}

// unescaped returns the name of a member.
func unescaped(inside []byte) []byte {
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	var name string
	quoted := append(append([]byte{'"'}, inside...), '"')
	if json.Unmarshal(quoted, &name) != nil {
		return nil
	}
	return []byte(name)
}
