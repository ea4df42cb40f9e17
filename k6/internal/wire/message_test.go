package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func text(payload string, final bool) Frame { return Frame{Text, final, []byte(payload)} }

func more(payload string, final bool) Frame { return Frame{Continuation, final, []byte(payload)} }

func TestMessagesOfSeveralFramesArePutTogether(t *testing.T) {
	var m Message
	for round := range 2 {
		for _, frame := range []Frame{text("he", false), more("", false), more("l", false)} {
			if _, complete, err := m.Add(frame); complete || err != nil {
				t.Fatalf("round %d: %v, %v", round, complete, err)
			}
		}
		if payload, complete, err := m.Add(more("lo", true)); !complete || err != nil || string(payload) != "hello" {
			t.Fatalf("round %d: %q, %v, %v", round, payload, complete, err)
		}
		if payload, complete, err := m.Add(text("whole", true)); !complete || err != nil || string(payload) != "whole" {
			t.Fatalf("round %d: %q, %v, %v", round, payload, complete, err)
		}
	}
}

func TestMessagesThatAClientMustRefuseAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		frames []Frame
		want   error
	}{
		"a message inside a message":        {[]Frame{text("a", false), text("b", true)}, ErrInterrupted},
		"an empty beginning, then another":  {[]Frame{text("", false), text("b", true)}, ErrInterrupted},
		"a continuation of nothing":         {[]Frame{more("a", true)}, ErrNoMessage},
		"a second end":                      {[]Frame{text("a", false), more("", true), more("", true)}, ErrNoMessage},
		"text that is not UTF-8":            {[]Frame{text("\xff", true)}, ErrText},
		"a character that is never ended":   {[]Frame{text("\xe2", false), more("\x82", true)}, ErrText},
		"more than a client holds":          {leak(), ErrMessage},
		"binary inside text, and no end":    {[]Frame{text("a", false), {Binary, true, nil}}, ErrInterrupted},
		"a continuation after a whole text": {[]Frame{text("a", true), more("b", true)}, ErrNoMessage},
	} {
		var m Message
		var err error
		for _, frame := range c.frames {
			if _, _, err = m.Add(frame); err != nil {
				break
			}
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
}

// leak returns the frames of a server that never ends its message.
func leak() []Frame {
	frames := []Frame{text("", false)}
	for range MaxPayload/1000 + 1 {
		frames = append(frames, more(strings.Repeat("x", 1000), false))
	}
	return frames
}

func TestACharacterMayBeCutBetweenFrames(t *testing.T) {
	var m Message
	if _, _, err := m.Add(text("\xe2\x82", false)); err != nil {
		t.Fatal(err)
	}
	if payload, _, err := m.Add(more("\xac", true)); err != nil || string(payload) != "€" {
		t.Errorf("%q, %v", payload, err)
	}
}

func TestBinaryMessagesMayHoldAnything(t *testing.T) {
	var m Message
	if _, complete, err := m.Add(Frame{Binary, true, []byte{0xff}}); !complete || err != nil {
		t.Errorf("%v, %v", complete, err)
	}
}

// For any frames, a message is bounded, valid, and equal to the content of its frames.
func FuzzMessage(f *testing.F) {
	f.Add([]byte{0x01, 1, 'a', 0x80, 1, 'b', 0x81, 1, 'c'})
	f.Add([]byte{0x01, 2, 0xe2, 0x82, 0x80, 1, 0xac})
	f.Add([]byte{0x80, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Message
		var sent []byte
		for {
			frame, n, err := Next(data)
			if n == 0 || err != nil {
				return
			}
			data = data[n:]
			if frame.Opcode >= Close {
				continue
			}
			sent = append(sent, frame.Payload...)
			payload, complete, err := m.Add(frame)
			switch {
			case err != nil:
				return
			case len(m.parts) > MaxPayload:
				t.Fatalf("holds %d bytes", len(m.parts))
			case complete && !bytes.Equal(payload, sent):
				t.Fatalf("%q, sent %q", payload, sent)
			case complete && frame.Opcode == Text && !utf8.Valid(payload):
				t.Fatalf("%q is not UTF-8", payload)
			}
			if complete {
				sent = sent[:0]
			}
		}
	})
}
