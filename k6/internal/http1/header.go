package http1

import (
	"bytes"
	"math"
)

// border is how much of the end of a section was read: an LF that follows an LF, or an LF that follows an LF and a CR.
type border uint8

const (
	insideLine border = iota
	atLine            // after an LF
	atCR              // after an LF and a CR
)

// find returns where the section ends in data; -1 if it continues.
func (b *border) find(data []byte) int {
	for i := 0; i < len(data); i++ {
		switch {
		case *b == insideLine:
			to := bytes.IndexByte(data[i:], '\n')
			if to < 0 {
				return -1
			}
			i += to
			*b = atLine
		case data[i] == '\n':
			*b = insideLine
			return i + 1
		case *b == atLine && data[i] == '\r':
			*b = atCR
		default:
			*b = insideLine
		}
	}
	return -1
}

// section reads lines up to an empty one, which is the last of the section. It returns nil if the section continues
// beyond data.
func (r *Reader) section(data []byte, limit int) (section []byte, n int, err error) {
	end := r.border.find(data)
	n = end
	if end < 0 {
		n = len(data)
	}
	if len(r.partial)+n > limit {
		return nil, 0, ErrTooLarge
	}
	if end > 0 && len(r.partial) == 0 {
		return data[:n], n, nil
	}
	r.partial = append(r.partial, data[:n]...)
	if end < 0 {
		return nil, n, nil
	}
	section, r.partial = r.partial, r.partial[:0]
	return section, n, nil
}

// cutLine returns the first line of a section, without its LF or CR LF, and what follows it.
func cutLine(section []byte) (line, rest []byte) {
	end := bytes.IndexByte(section, '\n')
	line, rest = section[:end], section[end+1:]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	return line, rest
}

// framing is what a header section specifies about the end of its response.
type framing struct {
	status                   uint16
	http10, close, keepAlive bool
	coded, chunked           bool   // there is a Transfer-Encoding; it is chunked
	length                   []byte // the first Content-Length; nil without one
}

// parse reads a header section, and determines how the body ends and what comes after it. It changes nothing for an
// informational response.
func (r *Reader) parse(section []byte) (informational bool, err error) {
	line, rest := cutLine(section)
	var f framing
	if f.status, f.http10, err = parseStatus(line); err != nil {
		return false, err
	}
	for line, rest = cutLine(rest); len(line) > 0; line, rest = cutLine(rest) {
		name, value, err := parseField(line)
		if err != nil {
			return false, err
		}
		if err := f.add(name, value); err != nil {
			return false, err
		}
	}
	length, err := f.check()
	switch {
	case err != nil:
		return false, err
	case f.status == 101:
		return false, ErrUpgrade
	case f.status < 200:
		return true, nil
	}
	r.frame(f, length)
	return false, nil
}

// parseStatus reads a status line: RFC 9112, section 4. A reason, and the space before it, may be missing.
func parseStatus(line []byte) (status uint16, http10 bool, err error) {
	const prefix = "HTTP/1.x 200"
	if len(line) < len(prefix) || string(line[:7]) != prefix[:7] || line[8] != ' ' || !digit(line[7]) {
		return 0, false, ErrStatusLine
	}
	for _, c := range line[9:12] {
		if !digit(c) {
			return 0, false, ErrStatusLine
		}
		status = status*10 + uint16(c-'0')
	}
	reason := line[len(prefix):]
	if status < 100 || len(reason) > 0 && reason[0] != ' ' || !printable(reason) {
		return 0, false, ErrStatusLine
	}
	return status, line[7] == '0', nil
}

// parseField reads a line of a header section: RFC 9112, section 5. A client may also accept fields in several lines
// (obs-fold) and whitespace before the colon. This client does not: no server needs them, and both can smuggle
// responses.
func parseField(line []byte) (name, value []byte, err error) {
	if blank(line[0]) {
		return nil, nil, ErrFold
	}
	colon := 0
	for colon < len(line) && token[line[colon]] {
		colon++
	}
	switch {
	case colon > 0 && colon < len(line) && line[colon] == ':':
	case colon > 0 && colon < len(line) && blank(line[colon]) && bytes.IndexByte(line, ':') > 0:
		return nil, nil, ErrSpace
	default:
		return nil, nil, ErrField
	}
	name, value = line[:colon], trim(line[colon+1:])
	if !printable(value) {
		return nil, nil, ErrField
	}
	return name, value, nil
}

// add records a field if it concerns the framing.
func (f *framing) add(name, value []byte) error {
	switch {
	case len(name) == len("connection") && equalFold(name, "connection"):
		f.close = f.close || hasToken(value, "close")
		f.keepAlive = f.keepAlive || hasToken(value, "keep-alive")
	case len(name) == len("content-length") && equalFold(name, "content-length"):
		if f.length != nil && !bytes.Equal(f.length, value) {
			return ErrLengths
		}
		f.length = value
	case len(name) == len("transfer-encoding") && equalFold(name, "transfer-encoding"):
		f.chunked = !f.coded && equalFold(value, "chunked")
		f.coded = true
	}
	return nil
}

// check returns the Content-Length, or -1 without one, and rejects ambiguous framing.
func (f *framing) check() (length int64, err error) {
	switch {
	case f.coded && f.http10:
		return 0, ErrCoding10
	case f.coded && !f.chunked:
		return 0, ErrCoding
	case f.coded && f.length != nil:
		return 0, ErrLengthCoding
	case f.length == nil:
		return -1, nil
	}
	return parseLength(f.length)
}

// frame determines how the body ends: RFC 9112, section 6.3.
func (r *Reader) frame(f framing, length int64) {
	r.status, r.keepAlive = f.status, !f.close && (f.keepAlive || !f.http10)
	switch {
	case r.HEAD || r.status == 204 || r.status == 304 || length == 0:
		r.state = complete
	case f.chunked:
		r.state, r.remaining, r.overhead = inChunkSize, 0, 0
	case length > 0:
		r.state, r.remaining = inLength, length
	default:
		r.state, r.keepAlive = inClose, false
	}
}

// parseLength reads a Content-Length, which is digits only.
func parseLength(value []byte) (int64, error) {
	length := int64(0)
	for _, c := range value {
		if !digit(c) || length > (math.MaxInt64-9)/10 {
			return 0, ErrLength
		}
		length = length*10 + int64(c-'0')
	}
	if len(value) == 0 {
		return 0, ErrLength
	}
	return length, nil
}

// Value returns the value of the first field of that name in the Data of a Header event, without the surrounding
// whitespace. It returns nil if there is none. The name is case-insensitive.
func Value(header []byte, name string) []byte {
	_, rest := cutLine(header)
	for line, rest := cutLine(rest); len(line) > 0; line, rest = cutLine(rest) {
		if len(line) > len(name) && line[len(name)] == ':' && equalFold(line[:len(name)], name) {
			return trim(line[len(name)+1:])
		}
	}
	return nil
}
