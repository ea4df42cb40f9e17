package wire

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Errors of a server that violates the rules for messages: RFC 6455, sections 5.4 and 8.1.
var (
	ErrInterrupted = errors.New("new message inside a message that is not complete")
	ErrNoMessage   = errors.New("continuation of no message")
	ErrText        = errors.New("text that is not UTF-8")
	ErrMessage     = fmt.Errorf("message larger than %d bytes", MaxPayload)
)

// Message assembles the data frames of one connection. The zero value waits for the first frame.
type Message struct {
	opcode byte // opcode of its first frame; Continuation if no message has begun
	last   byte // the opcode of the last complete message
	parts  []byte
}

// Add takes a data frame and returns the payload of the message that it completes. The payload aliases the frame or the
// Message and is valid until the next call. If complete is false without an error, more frames belong to the message.
func (m *Message) Add(frame Frame) (payload []byte, complete bool, err error) {
	begun := m.opcode != Continuation
	switch {
	case begun && frame.Opcode != Continuation:
		return nil, false, ErrInterrupted
	case !begun && frame.Opcode == Continuation:
		return nil, false, ErrNoMessage
	case !begun && frame.Final:
		m.last = frame.Opcode
		return frame.Payload, true, check(frame.Opcode, frame.Payload)
	case len(m.parts)+len(frame.Payload) > MaxPayload:
		return nil, false, ErrMessage
	}
	if !begun {
		m.opcode, m.parts = frame.Opcode, m.parts[:0]
	}
	m.parts = append(m.parts, frame.Payload...)
	if !frame.Final {
		return nil, false, nil
	}
	m.last, m.opcode = m.opcode, Continuation
	return m.parts, true, check(m.last, m.parts)
}

// Binary reports whether the last complete message is binary.
func (m *Message) Binary() bool { return m.last == Binary }

func check(opcode byte, payload []byte) error {
	if opcode == Text && !utf8.Valid(payload) {
		return ErrText
	}
	return nil
}
