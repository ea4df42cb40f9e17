// Package msgpack converts JSON text to MessagePack and back: https://github.com/msgpack/msgpack/blob/master/spec.md.
// Both directions work on byte slices and bound how much memory a server can make them use.
package msgpack

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
)

// deepest is how deep a value may be nested.
const deepest = 100

// Append appends JSON text as MessagePack: numbers without a fraction as integers if they fit, others as 64-bit floats.
// If the text is not JSON, it returns dst unchanged.
func Append(dst, text []byte) (packed []byte, ok bool) {
	w := writer{text: text, out: dst}
	if !json.Valid(text) || !w.value(0) {
		return dst, false
	}
	return w.out, true
}

// writer reads text that is valid JSON.
type writer struct {
	text []byte
	at   int
	out  []byte
}

// next returns the next byte that is not a blank.
func (w *writer) next() byte {
	for w.text[w.at] == ' ' || w.text[w.at] == '\t' || w.text[w.at] == '\n' || w.text[w.at] == '\r' {
		w.at++
	}
	return w.text[w.at]
}

func (w *writer) value(depth int) bool {
	if depth > deepest {
		return false
	}
	switch w.next() {
	case '{':
		return w.items('}', 0x80, 0xde, depth)
	case '[':
		return w.items(']', 0x90, 0xdc, depth)
	case '"':
		w.string()
	case 'n':
		w.literal(4, 0xc0)
	case 'f':
		w.literal(5, 0xc2)
	case 't':
		w.literal(4, 0xc3)
	default:
		w.number()
	}
	return true
}

func (w *writer) literal(length int, code byte) {
	w.at += length
	w.out = append(w.out, code)
}

// items writes the items of an array, or the members of an object. Their number precedes them but is known only
// afterwards.
func (w *writer) items(end, short, long byte, depth int) bool {
	start, count := len(w.out), 0
	w.out = append(w.out, 0)
	for w.at++; w.next() != end; count++ {
		if w.text[w.at] == ',' {
			w.at++
		}
		if end == '}' {
			w.next()
			w.string()
			w.next()
			w.at++ // the colon
		}
		if !w.value(depth + 1) {
			return false
		}
	}
	w.at++
	switch {
	case count < 16:
		w.out[start] = short | byte(count)
	case count <= math.MaxUint16:
		w.out[start] = long
		w.insert(start+1, binary.BigEndian.AppendUint16(nil, uint16(count)))
	default:
		w.out[start] = long + 1
		w.insert(start+1, binary.BigEndian.AppendUint32(nil, uint32(count)))
	}
	return true
}

func (w *writer) insert(at int, header []byte) {
	w.out = append(w.out, header...)
	copy(w.out[at+len(header):], w.out[at:])
	copy(w.out[at:], header)
}

func (w *writer) string() {
	from := w.at
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	content := w.text[from+1 : w.at-1]
	if bytes.IndexByte(content, '\\') >= 0 {
		var plain string
		_ = json.Unmarshal(w.text[from:w.at], &plain) // the text is JSON
		content = []byte(plain)
	}
	switch n := len(content); {
	case n < 32:
		w.out = append(w.out, 0xa0|byte(n))
	case n <= math.MaxUint8:
		w.out = append(w.out, 0xd9, byte(n))
	case n <= math.MaxUint16:
		w.out = binary.BigEndian.AppendUint16(append(w.out, 0xda), uint16(n))
	default:
		w.out = binary.BigEndian.AppendUint32(append(w.out, 0xdb), uint32(n))
	}
	w.out = append(w.out, content...)
}

func (w *writer) number() {
	from := w.at
	for w.at < len(w.text) && bytes.IndexByte([]byte("+-.0123456789Ee"), w.text[w.at]) >= 0 {
		w.at++
	}
	text := string(w.text[from:w.at])
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		w.integer(n)
	} else if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0xcf), u)
	} else {
		f, _ := strconv.ParseFloat(text, 64) // infinite if it is too large
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0xcb), math.Float64bits(f))
	}
}

func (w *writer) integer(n int64) {
	switch {
	case n >= 0 && n < 128, n < 0 && n >= -32:
		w.out = append(w.out, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		w.out = append(w.out, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		w.out = binary.BigEndian.AppendUint16(append(w.out, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		w.out = binary.BigEndian.AppendUint32(append(w.out, 0xce), uint32(n))
	case n >= 0:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0xcf), uint64(n))
	case n >= math.MinInt8:
		w.out = append(w.out, 0xd0, byte(n))
	case n >= math.MinInt16:
		w.out = binary.BigEndian.AppendUint16(append(w.out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		w.out = binary.BigEndian.AppendUint32(append(w.out, 0xd2), uint32(n))
	default:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 0xd3), uint64(n))
	}
}
