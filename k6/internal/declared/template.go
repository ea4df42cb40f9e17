package declared

import (
	"bytes"
	"fmt"
	"strconv"
)

// kind is what a piece of a template stands for.
type kind uint8

const (
	literal kind = iota
	group
	client
	ident
	moment
	anything
	column
)

var kinds = map[string]kind{"group": group, "client": client, "id": ident, "time": moment, "any": anything}

type piece struct {
	kind kind
	text []byte   // text of a literal
	rows [][]byte // values of a column
}

// template is a compiled Template. Adjacent literals are merged.
type template []piece

// Values are the values of a template. Client and ID are unique in the load, Time is in microseconds.
type Values struct {
	Group            string
	Client, ID, Time int64
}

// unsaid stands for a number that a text does not contain.
const unsaid = -1

// compile compiles a template; escape is applied to secrets and rows.
func (t Template) compile(known secrets, rows map[string][]string, escape func(string) string) (template, error) {
	var made template
	for _, part := range t {
		text := part.Literal
		switch {
		case part.Value != "":
			found, ok := kinds[part.Value]
			if !ok {
				return nil, fmt.Errorf("template: no value %q", part.Value)
			}
			made = append(made, piece{kind: found})
			continue
		case part.Row != "":
			values, ok := rows[part.Row]
			if !ok || len(values) == 0 {
				return nil, fmt.Errorf("template: no column %q", part.Row)
			}
			made = append(made, piece{kind: column, rows: allOf(values, escape)})
			continue
		case part.Secret != "":
			value, ok := known[part.Secret]
			if !ok {
				return nil, fmt.Errorf("template: no secret %q", part.Secret)
			}
			text = escape(value)
		}
		if last := len(made) - 1; last >= 0 && made[last].kind == literal {
			made[last].text = append(made[last].text, text...)
		} else {
			made = append(made, piece{text: []byte(text)})
		}
	}
	return made, nil
}

func allOf(values []string, escape func(string) string) (escaped [][]byte) {
	for _, value := range values {
		escaped = append(escaped, []byte(escape(value)))
	}
	return escaped
}

// row returns the value of a client. Each part of a load begins at the first row, and the first row follows the last.
func (p *piece) row(client int64) []byte { return p.rows[client%perPart%int64(len(p.rows))] }

// append appends the template with these values.
func (t template) append(buf []byte, v *Values) []byte {
	for i := range t {
		switch p := &t[i]; p.kind {
		case literal:
			buf = append(buf, p.text...)
		case group:
			buf = append(buf, v.Group...)
		case client:
			buf = strconv.AppendInt(buf, v.Client, 10)
		case ident:
			buf = strconv.AppendInt(buf, v.ID, 10)
		case moment:
			buf = strconv.AppendInt(buf, v.Time, 10)
		case column:
			buf = append(buf, p.row(v.Client)...)
		case anything:
		}
	}
	return buf
}

// constant returns the text of a template without values.
func (t template) constant() (text []byte, ok bool) {
	if len(t) == 1 && t[0].kind == literal {
		return t[0].text, true
	}
	return nil, false
}

// match reports whether a text matches the template with some values, and keeps these values. Values still unsaid may
// be any number, and the group has to be the one in v. An {any} matches as little as possible.
func (t template) match(text []byte, v *Values) bool {
	star, rest, kept := -1, text, *v // the last {any}, the text after it, and the values at that point
	for i := 0; ; {
		if i == len(t) && len(text) == 0 {
			return true
		}
		ok := false
		if i < len(t) {
			if t[i].kind == anything {
				star, rest, kept = i, text, *v
				i++
				continue
			}
			text, ok = t[i].take(text, v)
		}
		if ok {
			i++
			continue
		}
		if star < 0 || len(rest) == 0 {
			return false
		}
		rest, *v = rest[1:], kept
		text, i = rest, star+1
	}
}

// take consumes the piece at the start of a text.
func (p *piece) take(text []byte, v *Values) ([]byte, bool) {
	switch p.kind {
	case literal:
		return bytes.CutPrefix(text, p.text)
	case group:
		if len(text) < len(v.Group) || string(text[:len(v.Group)]) != v.Group {
			return text, false
		}
		return text[len(v.Group):], true
	case client:
		return number(text, &v.Client)
	case ident:
		return number(text, &v.ID)
	case moment:
		return number(text, &v.Time)
	case column:
		if v.Client >= 0 {
			return bytes.CutPrefix(text, p.row(v.Client))
		}
	case anything:
	}
	return text, false
}

// digits is the largest number of digits that is read.
const digits = 18

// number reads a number without leading zeros. A known one has to be the same.
func number(text []byte, known *int64) ([]byte, bool) {
	var n int64
	i := 0
	for ; i < len(text) && i < digits && text[i]-'0' <= 9; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	if i == 0 || i > 1 && text[0] == '0' || *known != unsaid && *known != n {
		return text, false
	}
	*known = n
	return text[i:], true
}
