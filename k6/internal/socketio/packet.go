// Package socketio reads and writes packets of Engine.IO 4 and Socket.IO 5 as text messages of a WebSocket. It does no
// I/O, copies nothing, and takes one message at a time; the WebSocket bounds the size of a message. Binary packets are
// errors.
//
// The formats are those of https://socket.io/docs/v4/engine-io-protocol and
// https://socket.io/docs/v4/socket-io-protocol.
package socketio

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Bounds of the values in a packet.
const (
	maxNamespace = 256 // bytes
	maxDigits    = 15  // of an id, so that it is an exact number in JavaScript as well
)

// Kind is the kind of a packet.
type Kind uint8

// The kinds of packets that a server may send.
const (
	Open         Kind = iota // of the engine; Data is the JSON of a Handshake
	Close                    // of the engine
	Ping                     // of the engine; requires a pong
	Noop                     // of the engine
	Connect                  // the namespace is connected; Data is JSON, or nothing
	Disconnect               // the namespace is no longer connected
	Event                    // Name is its name, and Data its arguments
	Ack                      // Data are its arguments
	ConnectError             // the namespace refuses the connection; Data is JSON, or nothing
)

// NoID is the id of a packet without one.
const NoID = -1

// Packet is one packet. Its slices alias the message.
type Packet struct {
	Kind Kind
	// Namespace is "/" or another; packets of the engine have none.
	Namespace []byte
	// ID is the id of an Event that requests an acknowledgement, or of the event that an Ack answers. Otherwise it is
	// NoID.
	ID int64
	// Name is the name of an Event, as it appears in its JSON between the quotation marks.
	Name []byte
	// Data is JSON, which is not validated. For an Event and an Ack it is the text between the commas and brackets.
	Data []byte
}

// Errors of a server that violates the protocol.
var (
	errEmpty     = errors.New("an empty packet")
	errBinary    = errors.New("a binary packet, where only text is spoken")
	errArguments = errors.New("a packet whose arguments are no JSON array")
	errName      = errors.New("an event without a name")
)

var root = []byte("/")

// blanks are the characters that may surround JSON values.
const blanks = " \t\r\n"

// Read reads the packet in a message.
func Read(message []byte) (Packet, error) {
	if len(message) == 0 {
		return Packet{}, errEmpty
	}
	rest := message[1:]
	switch message[0] {
	case '0':
		return Packet{Kind: Open, ID: NoID, Data: rest}, nil
	case '1':
		return Packet{Kind: Close, ID: NoID}, nil
	case '2':
		return Packet{Kind: Ping, ID: NoID, Data: rest}, nil
	case '4':
		return readMessage(rest)
	case '6':
		return Packet{Kind: Noop, ID: NoID}, nil
	case 'b':
		return Packet{}, errBinary
	}
	return Packet{}, fmt.Errorf("a packet of the engine of type %.1q, which servers do not send", message)
}

// kinds are the kinds of Socket.IO's packets by number.
var kinds = [...]Kind{'0': Connect, '1': Disconnect, '2': Event, '3': Ack, '4': ConnectError}

// readMessage reads the content of a message of the engine.
func readMessage(text []byte) (Packet, error) {
	switch {
	case len(text) == 0:
		return Packet{}, errEmpty
	case text[0] == '5' || text[0] == '6':
		return Packet{}, errBinary
	case text[0] < '0' || text[0] > '4':
		return Packet{}, fmt.Errorf("a packet of the unknown type %.1q", text)
	}
	p := Packet{Kind: kinds[text[0]], Namespace: root, ID: NoID, Data: text[1:]}
	if err := p.cutNamespace(); err != nil {
		return Packet{}, err
	}
	if p.Kind != Event && p.Kind != Ack {
		return p, nil
	}
	if err := p.cutID(); err != nil {
		return Packet{}, err
	}
	return p, p.cutArguments()
}

// cutNamespace removes a namespace from the beginning, if there is one.
func (p *Packet) cutNamespace() error {
	if len(p.Data) == 0 || p.Data[0] != '/' {
		return nil
	}
	end := bytes.IndexByte(p.Data, ',')
	if end < 0 {
		end = len(p.Data)
	}
	if end > maxNamespace {
		return fmt.Errorf("a namespace of %d bytes, more than %d", end, maxNamespace)
	}
	p.Namespace, p.Data = p.Data[:end], p.Data[min(end+1, len(p.Data)):]
	return nil
}

// cutID removes the digits at the beginning. An acknowledgement must have some.
func (p *Packet) cutID() error {
	id, digits := int64(0), 0
	for ; digits < len(p.Data) && p.Data[digits]-'0' <= 9; digits++ {
		if digits == maxDigits {
			return fmt.Errorf("an id of more than %d digits", maxDigits)
		}
		id = id*10 + int64(p.Data[digits]-'0')
	}
	switch {
	case digits > 0:
		p.ID, p.Data = id, p.Data[digits:]
	case p.Kind == Ack:
		return errors.New("an acknowledgement without an id")
	}
	return nil
}

// cutArguments removes the brackets, and the name of an event.
func (p *Packet) cutArguments() error {
	last := len(p.Data) - 1
	if last < 1 || p.Data[0] != '[' || p.Data[last] != ']' {
		return errArguments
	}
	p.Data = p.Data[1:last]
	if p.Kind == Ack {
		return nil
	}
	name, ok := bytes.CutPrefix(bytes.TrimLeft(p.Data, blanks), []byte(`"`))
	end := endOfString(name)
	if !ok || end < 0 {
		return errName
	}
	rest := bytes.TrimLeft(name[end+1:], blanks)
	p.Name = name[:end]
	if len(rest) == 0 {
		p.Data = nil
		return nil
	}
	if rest[0] != ',' || len(rest) == 1 {
		return errArguments
	}
	p.Data = rest[1:]
	return nil
}

// endOfString returns the index of the quotation mark that ends a JSON string; -1 if there is none.
func endOfString(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// AppendConnect appends the packet that connects the namespace "/".
func AppendConnect(buf []byte) []byte { return append(buf, "40"...) }

// AppendDisconnect appends the packet that disconnects it.
func AppendDisconnect(buf []byte) []byte { return append(buf, "41"...) }

// AppendPong appends the answer to a ping of the engine, which returns the data of the ping.
func AppendPong(buf, data []byte) []byte { return append(append(buf, '3'), data...) }

// AppendEvent appends the beginning of an event of the namespace "/", up to and including the comma before its
// arguments. With an id, the event requests an acknowledgement. AppendEnd ends it. The name must not need escapes.
func AppendEvent(buf []byte, name string, id int64) []byte {
	buf = append(buf, "42"...)
	if id != NoID {
		buf = strconv.AppendInt(buf, id, 10)
	}
	buf = append(buf, `["`...)
	buf = append(buf, name...)
	return append(buf, `",`...)
}

// AppendEnd appends the end of an event.
func AppendEnd(buf []byte) []byte { return append(buf, ']') }
