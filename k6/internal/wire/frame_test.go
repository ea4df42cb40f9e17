package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// server frames a payload as a server does: unmasked.
func server(payload []byte) []byte {
	frame := Append(nil, Text, 0, payload) // a key of 0 changes nothing
	frame[1] &^= 0x80
	header := len(frame) - len(payload)
	return append(frame[:header-4:header-4], payload...)
}

func TestFramesOfEveryLengthSurviveInAnyCut(t *testing.T) {
	for _, size := range []int{0, 1, 125, 126, 127, 65535, 65536, 70000} {
		payload := bytes.Repeat([]byte("a"), size)
		whole := server(payload)
		for _, cut := range []int{0, 1, 2, 3, 9, len(whole) - 1} {
			if _, n, err := Next(whole[:min(cut, len(whole)-1)]); n != 0 || err != nil {
				t.Fatalf("size %d cut at %d: %d, %v", size, cut, n, err)
			}
		}
		frame, n, err := Next(append(whole, "next"...))
		if err != nil || n != len(whole) || !frame.Final || frame.Opcode != Text || !bytes.Equal(frame.Payload, payload) {
			t.Fatalf("size %d: %d bytes, %v, opcode %d", size, n, err, frame.Opcode)
		}
	}
}

func TestMaskingIsWhatRFC6455Shows(t *testing.T) { // section 5.7: a masked "Hello"
	got := Append(nil, Text, binary.LittleEndian.Uint32([]byte{0x37, 0xfa, 0x21, 0x3d}), []byte("Hello"))
	want := []byte{0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}
	if !bytes.Equal(got, want) {
		t.Errorf("% x", got)
	}
}

func TestMaskingTwiceGivesThePayloadBack(t *testing.T) {
	payload := []byte("a payload of more than eight bytes")
	frame := Append(nil, Binary, 0xdeadbeef, payload)
	body := frame[6:]
	mask(body, 0xdeadbeef)
	if !bytes.Equal(body, payload) {
		t.Errorf("%q", body)
	}
}

func TestServersThatBreakTheProtocolAreNoticed(t *testing.T) {
	for want, frame := range map[error][]byte{
		ErrReserved: {0xc1, 0x00},
		ErrMasked:   {0x81, 0x80, 0, 0, 0, 0},
		ErrTooLarge: {0x82, 127, 0, 0, 0, 0, 0x7f, 0, 0, 0},
	} {
		if _, _, err := Next(frame); !errors.Is(err, want) {
			t.Errorf("% x: %v, expected %v", frame, err, want)
		}
	}
}

func TestFramesThatAClientMustRefuseAreErrors(t *testing.T) {
	for _, c := range []struct {
		frame []byte
		want  error
	}{
		{[]byte{0x83, 0}, ErrOpcode}, // the first reserved data opcode
		{[]byte{0x8b, 0}, ErrOpcode}, // the first reserved control opcode
		{[]byte{0x09, 0}, ErrControl},
		{[]byte{0x89, 126, 0, 126}, ErrControl},
		{[]byte{0x81, 126, 0, 125}, ErrLength},
		{[]byte{0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, ErrLength},
	} {
		if _, n, err := Next(c.frame); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("% x: %d, %v, expected %v", c.frame, n, err, c.want)
		}
	}
}

// reference reads a frame as section 5.2 describes it, without shortcuts.
func reference(data []byte) (frame Frame, size int, ok bool) {
	if len(data) < 2 {
		return Frame{}, 0, true
	}
	frame.Final, frame.Opcode = data[0]>>7 == 1, data[0]&15
	control := frame.Opcode >= 8
	length, header := uint64(data[1]), 2
	if data[0]>>4&7 != 0 || data[1] >= 128 || control && (!frame.Final || length > 125) {
		return Frame{}, 0, false
	}
	if frame.Opcode != 0 && frame.Opcode != 1 && frame.Opcode != 2 && (frame.Opcode < 8 || frame.Opcode > 10) {
		return Frame{}, 0, false
	}
	if wide := map[uint64]int{126: 2, 127: 8}[length]; wide > 0 {
		if header += wide; len(data) < header {
			return Frame{}, 0, true
		}
		length = 0
		for _, b := range data[2:header] {
			length = length<<8 | uint64(b)
		}
		if wide == 2 && length < 126 || wide == 8 && length < 1<<16 || length > MaxPayload {
			return Frame{}, 0, false
		}
	}
	if uint64(len(data)) < uint64(header)+length {
		return Frame{}, 0, true
	}
	size = header + int(length)
	frame.Payload = data[header:size]
	return frame, size, true
}

func FuzzNext(f *testing.F) {
	f.Add(server([]byte("hello")))
	f.Add([]byte{0x81, 126, 0xff})
	f.Add(server(bytes.Repeat([]byte("a"), 126)))
	f.Add([]byte{0x89, 0})
	f.Add([]byte{0x88, 2, 0x03, 0xe8})
	f.Add([]byte{0x01, 1, 'a'})
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, n, err := Next(data)
		want, size, ok := reference(data)
		if n != size || (err == nil) != ok || frame.Opcode != want.Opcode || frame.Final != want.Final ||
			!bytes.Equal(frame.Payload, want.Payload) {
			if size > 0 || n > 0 || (err == nil) != ok {
				t.Errorf("% x: %d bytes, %v, %+v; expected %d, %v, %+v", data, n, err, frame, size, ok, want)
			}
		}
	})
}
