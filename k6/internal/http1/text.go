package http1

import (
	"bytes"
	"encoding/binary"
)

// text is a value to compare: bytes of a response, or strings of a request.
type text interface{ []byte | string }

// hasToken reports whether a comma-separated list has the token.
func hasToken(list []byte, token string) bool {
	for len(list) > 0 {
		element, rest, _ := bytes.Cut(list, []byte(","))
		if equalFold(trim(element), token) {
			return true
		}
		list = rest
	}
	return false
}

// equalFold compares ASCII case-insensitively.
func equalFold[T text](a T, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// trim removes the whitespace around a value.
func trim(value []byte) []byte {
	for len(value) > 0 && blank(value[0]) {
		value = value[1:]
	}
	for len(value) > 0 && blank(value[len(value)-1]) {
		value = value[:len(value)-1]
	}
	return value
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// printable reports whether a value has no control characters except tabs: RFC 9110, section 5.5. It examines eight
// bytes at once.
func printable(value []byte) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for len(value) >= 8 {
		word := binary.LittleEndian.Uint64(value)
		del := word ^ 0x7f*each
		if ((word-0x20*each)&^word|(del-each)&^del)&high != 0 && !plain(value[:8]) { // below 0x20, or DEL
			return false
		}
		value = value[8:]
	}
	return plain(value)
}

func plain[T text](value T) bool {
	for i := range len(value) {
		if c := value[i]; c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// token marks the characters of names and methods: RFC 9110, section 5.6.2.
var token = func() (is [256]bool) {
	for c := range 256 {
		letter := lower(byte(c))
		is[c] = digit(byte(c)) || 'a' <= letter && letter <= 'z' || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), byte(c)) >= 0
	}
	return is
}()
