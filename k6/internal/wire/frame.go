// Package wire reads and writes WebSocket frames as a client (RFC 6455) on byte slices. It does no I/O, allocates
// nothing for a complete frame, and supports no extension: compression is never offered.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Opcodes of RFC 6455, section 11.8.
const (
	Continuation byte = 0x0
	Text         byte = 0x1
	Binary       byte = 0x2
	Close        byte = 0x8
	Ping         byte = 0x9
	Pong         byte = 0xA
)

// MaxPayload bounds what a server may make a client buffer. No suite has messages above 64 KiB.
const MaxPayload = 1 << 20

// Errors of a server that violates the protocol.
var (
	ErrReserved = errors.New("frame with reserved bits set")
	ErrOpcode   = errors.New("frame with a reserved opcode")
	ErrMasked   = errors.New("masked frame from a server")
	ErrControl  = errors.New("control frame in parts or longer than 125 bytes")
	ErrLength   = errors.New("frame whose length takes more bytes than it needs")
	ErrTooLarge = fmt.Errorf("frame larger than %d bytes", MaxPayload)
)

// maxControl is the longest payload of a control frame: RFC 6455, section 5.5.
const maxControl = 125

// Frame is one frame from a server. Payload aliases the buffer that it was read from.
type Frame struct {
	Opcode  byte
	Final   bool
	Payload []byte
}

// Next reads the frame at the start of buf and returns how many bytes it takes; 0 if buf holds only a part of it.
func Next(buf []byte) (Frame, int, error) {
	if len(buf) < 2 {
		return Frame{}, 0, nil
	}
	if buf[0]&0x70 != 0 {
		return Frame{}, 0, ErrReserved
	}
	if buf[1]&0x80 != 0 {
		return Frame{}, 0, ErrMasked
	}
	opcode, final := buf[0]&0x0f, buf[0]&0x80 != 0
	switch opcode {
	case Continuation, Text, Binary:
	case Close, Ping, Pong:
		if !final || buf[1] > maxControl {
			return Frame{}, 0, ErrControl
		}
	default:
		return Frame{}, 0, ErrOpcode
	}
	length, header, err := payloadLength(buf)
	if err != nil || header == 0 {
		return Frame{}, 0, err
	}
	size := header + length
	if len(buf) < size {
		return Frame{}, 0, nil
	}
	return Frame{Opcode: opcode, Final: final, Payload: buf[header:size]}, size, nil
}

// payloadLength reads the length of an unmasked frame and how many bytes come before the payload; 0 if they are not all
// there.
func payloadLength(buf []byte) (length, header int, err error) {
	var long, least uint64
	switch buf[1] {
	case 126:
		if len(buf) < 4 {
			return 0, 0, nil
		}
		long, least, header = uint64(binary.BigEndian.Uint16(buf[2:])), 126, 4
	case 127:
		if len(buf) < 10 {
			return 0, 0, nil
		}
		long, least, header = binary.BigEndian.Uint64(buf[2:]), 1<<16, 10
	default:
		return int(buf[1]), 2, nil
	}
	switch {
	case long < least:
		return 0, 0, ErrLength
	case long > MaxPayload:
		return 0, 0, ErrTooLarge
	}
	return int(long), header, nil
}

// Append adds one final frame, masked with key as clients must, and returns the extended slice.
func Append(dst []byte, opcode byte, key uint32, payload []byte) []byte {
	return Enclose(append(dst, payload...), len(dst), opcode, key)
}

// Enclose makes dst[start:] the payload of one final frame, masked with key as clients must, and returns the extended
// slice.
func Enclose(dst []byte, start int, opcode byte, key uint32) []byte {
	var buf [14]byte // the longest header of a masked frame
	header := append(buf[:0], 0x80|opcode)
	switch n := len(dst) - start; {
	case n < 126:
		header = append(header, 0x80|byte(n))
	case n < 1<<16:
		header = append(header, 0x80|126, byte(n>>8), byte(n))
	default:
		header = binary.BigEndian.AppendUint64(append(header, 0x80|127), uint64(n))
	}
	header = binary.LittleEndian.AppendUint32(header, key)
	dst = append(dst, header...) // reserves the room
	copy(dst[start+len(header):], dst[start:])
	copy(dst[start:], header)
	mask(dst[start+len(header):], key)
	return dst
}

// mask XORs p with the key, whose first byte on the wire is its least significant one.
func mask(p []byte, key uint32) {
	wide := uint64(key)<<32 | uint64(key)
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^wide)
		p = p[8:]
	}
	for i := range p {
		p[i] ^= byte(key >> (8 * (i & 3)))
	}
}

// CloseCode returns the status of a close frame's payload; 1005 ("no status") if it has none.
func CloseCode(payload []byte) int {
	if len(payload) < 2 {
		return 1005
	}
	return int(binary.BigEndian.Uint16(payload))
}
