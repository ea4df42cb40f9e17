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

func FuzzNextNeverReadsPastTheBuffer(f *testing.F) {
	f.Add(server([]byte("hello")))
	f.Add([]byte{0x81, 126, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, n, err := Next(data)
		if n > len(data) || err != nil && n != 0 || len(frame.Payload) > n {
			t.Errorf("%d of %d bytes, payload %d, %v", n, len(data), len(frame.Payload), err)
		}
	})
}
