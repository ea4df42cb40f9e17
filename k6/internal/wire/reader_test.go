package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// part frames a piece of a message, or a control frame, as a server does.
func part(opcode byte, final bool, payload string) []byte {
	frame := server([]byte(payload))
	frame[0] = opcode
	if final {
		frame[0] |= 0x80
	}
	return frame
}

// read feeds data to a reader in pieces of these sizes, the last piece for the rest, and returns the events as text.
func read(t *testing.T, r Reader, data []byte, sizes func() int) (events []string, err error) {
	t.Helper()
	for len(data) > 0 {
		piece := slices.Clone(data[:min(sizes(), len(data))])
		data = data[len(piece):]
		for {
			event, n, err := r.Next(piece)
			if err != nil {
				return events, err
			}
			if event.Kind == Nothing {
				if n != len(piece) {
					t.Fatalf("nothing found, and %d of %d bytes taken", n, len(piece))
				}
				break
			}
			events = append(events, fmt.Sprintf("%d %s", event.Kind, event.Data))
			piece = piece[n:]
		}
	}
	return events, nil
}

func TestWhatAServerSendsIsReadAlikeInAnyPieces(t *testing.T) {
	long, huge := strings.Repeat("l", 300), strings.Repeat("h", 70000)
	var data []byte
	for _, frame := range [][]byte{
		part(Text, true, "one"), part(Text, false, "t"), part(Ping, true, "are you there"),
		part(Continuation, false, ""), part(Continuation, true, "wo"), part(Binary, true, ""),
		part(Binary, false, "\xff"), part(Continuation, true, "\xfe"),
		part(Pong, true, "unasked"), part(Text, true, long), part(Text, true, huge), part(Close, true, "\x03\xe8bye"),
	} {
		data = append(data, frame...)
	}
	want := []string{
		"2 one", "3 are you there", "2 two", "6 ", "6 \xff\xfe", "4 unasked", "2 " + long, "2 " + huge, "5 \x03\xe8bye",
	}
	for name, sizes := range map[string]func() int{
		"whole":  func() int { return len(data) },
		"bytes":  func() int { return 1 },
		"random": func() int { return 1 + rand.IntN(400) },
	} {
		if got, err := read(t, Reader{}, data, sizes); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d events, %v", name, len(got), err)
		}
	}
}

func TestMessagesMayFollowTheAnswerAtOnce(t *testing.T) {
	handshake := handshakeOf(t, "")
	data := append(handshake.answer(nil), part(Text, true, "welcome")...)
	for size := 1; size <= len(data); size++ {
		got, err := read(t, NewReader(&handshake), data, func() int { return size })
		if err != nil || !slices.Equal(got, []string{"1 ", "2 welcome"}) {
			t.Fatalf("pieces of %d: %q, %v", size, got, err)
		}
	}
}

func TestABrokenFrameIsAnErrorInAnyPieces(t *testing.T) {
	for want, bad := range map[error][]byte{
		ErrMasked: {0x81, 0x80, 0, 0, 0, 0}, ErrLength: {0x81, 126, 0, 125},
		ErrNoMessage: part(Continuation, true, "x"),
		ErrText:      part(Text, true, "\xff"), ErrTooLarge: {0x82, 127, 0, 0, 0, 0, 0x7f, 0, 0, 0},
	} {
		data := slices.Concat(part(Text, true, "good"), bad)
		for size := 1; size <= len(data); size++ {
			got, err := read(t, Reader{}, data, func() int { return size })
			if !errors.Is(err, want) || !slices.Equal(got, []string{"2 good"}) {
				t.Errorf("pieces of %d: %q, %v, expected %v", size, got, err, want)
			}
		}
	}
}

func TestReadingWholeMessagesAllocatesNothing(t *testing.T) {
	data := bytes.Repeat(server([]byte("a message")), 3)
	var r Reader
	allocated := testing.AllocsPerRun(100, func() {
		for rest := data; len(rest) > 0; {
			_, n, _ := r.Next(rest)
			rest = rest[n:]
		}
	})
	if allocated != 0 {
		t.Errorf("%.1f allocations", allocated)
	}
}
