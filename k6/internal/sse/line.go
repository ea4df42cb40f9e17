package sse

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// fieldName is the field that a line sets.
type fieldName uint8

const (
	noField fieldName = iota // a comment, or a field that the standard does not define
	dataField
	eventField
	idField
	retryField
)

// cutField splits a line at its colon. One space after the colon is not part of the value.
func cutField(line []byte) (fieldName, []byte) {
	name, value := line, line[len(line):]
	if colon := bytes.IndexByte(line, ':'); colon >= 0 {
		name, value = line[:colon], line[colon+1:]
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return dataField, value
	case "event":
		return eventField, value
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			return idField, value
		}
	case "retry":
		return retryField, value
	}
	return noField, nil
}

// cutLine returns the first line of data without its CR, LF or CR LF, and how many bytes the line takes with its end; 0
// if the line is incomplete.
func cutLine(data []byte) (line []byte, size int) {
	end := lineEnd(data)
	if end < 0 {
		return nil, 0
	}
	size = end + 1
	if data[end] == '\r' && size < len(data) && data[size] == '\n' {
		size++
	}
	return data[:end], size
}

// lineEnd finds the first CR or LF; -1 if there is none. It examines eight bytes at once. Two searches, one for each
// character, would read all of the data again for each line of a server that uses only the other.
func lineEnd(data []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(data); i += 8 {
		word := binary.LittleEndian.Uint64(data[i:])
		lf, cr := word^'\n'*each, word^'\r'*each
		if found := ((lf-each)&^lf | (cr-each)&^cr) & high; found != 0 { // the lowest bit is that of a zero byte
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(data); i++ {
		if data[i] == '\n' || data[i] == '\r' {
			return i
		}
	}
	return -1
}
