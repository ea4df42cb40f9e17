// Package wire reads and writes WebSocket frames as a client (RFC 6455) on byte slices. It does no I/O,
// allocates nothing for a whole frame, and knows no extension: compression is never offered.
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

// Errors of a server that breaks the protocol.
var (
	ErrReserved = errors.New("frame with reserved bits set")
	ErrMasked   = errors.New("masked frame from a server")
	ErrTooLarge = fmt.Errorf("frame larger than %d bytes", MaxPayload)
)

// Frame is one frame from a server. Payload aliases the buffer that it was read from.
type Frame struct {
	Opcode  byte
	Final   bool
	Payload []byte
}

// Next reads the frame at the start of buf and returns how many bytes it takes; 0 when buf holds only a part of it.
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
	length, header := uint64(buf[1]&0x7f), 2
	switch length {
	case 126:
		if len(buf) < 4 {
			return Frame{}, 0, nil
		}
		length, header = uint64(binary.BigEndian.Uint16(buf[2:])), 4
	case 127:
		if len(buf) < 10 {
			return Frame{}, 0, nil
		}
		length, header = binary.BigEndian.Uint64(buf[2:]), 10
	}
	if length > MaxPayload {
		return Frame{}, 0, ErrTooLarge
	}
	size := header + int(length)
	if len(buf) < size {
		return Frame{}, 0, nil
	}
	return Frame{Opcode: buf[0] & 0x0f, Final: buf[0]&0x80 != 0, Payload: buf[header:size]}, size, nil
}

// Append adds one final frame, masked with key as clients must, and returns the extended slice.
func Append(dst []byte, opcode byte, key uint32, payload []byte) []byte {
	dst = append(dst, 0x80|opcode)
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, 0x80|byte(n))
	case n < 1<<16:
		dst = append(dst, 0x80|126, byte(n>>8), byte(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 0x80|127), uint64(n))
	}
	dst = binary.LittleEndian.AppendUint32(dst, key)
	start := len(dst)
	dst = append(dst, payload...)
	mask(dst[start:], key)
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

// CloseCode reads the status of a close frame's payload; 1005 ("no status") when it has none.
func CloseCode(payload []byte) int {
	if len(payload) < 2 {
		return 1005
	}
	return int(binary.BigEndian.Uint16(payload))
}
