package sse

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// event is one event of a stream.
type event struct{ data, name, id string }

// stream is the result of reading a whole stream.
type stream struct {
	events []event
	lastID string
	retry  time.Duration // -1 if the server did not set it
	err    error
}

// feed reads the text in pieces, whose memory is overwritten once they are consumed.
func feed(t testing.TB, text string, next func(rest int) int) stream {
	t.Helper()
	var r Reader
	got := stream{retry: -1}
	for len(text) > 0 && got.err == nil {
		size := next(len(text))
		piece := []byte(text[:size])
		text = text[size:]
		for rest := piece; ; {
			found, n, ok, err := r.Next(rest)
			if n < 0 || n > len(rest) || err == nil && !ok && n < len(rest) {
				t.Fatalf("took %d of %d bytes, %v, %v", n, len(rest), ok, err)
			}
			if got.err = err; err != nil || !ok {
				break
			}
			got.events = append(got.events, event{string(found.Data), string(found.Name), string(found.ID)})
			rest = rest[n:]
		}
		for i := range piece {
			piece[i] = 0xaa
		}
	}
	got.lastID = string(r.LastID())
	if pause, said := r.Retry(); said {
		got.retry = pause
	}
	return got
}

func whole(rest int) int { return rest }

func bytewise(int) int { return 1 }

// at cuts once, after n bytes; 0 does not cut.
func at(n int) func(int) int {
	first := true
	return func(rest int) int {
		if first && n > 0 {
			first = false
			return min(n, rest)
		}
		return rest
	}
}

// same says whether two readings are alike.
func same(a, b stream) bool {
	return slices.Equal(a.events, b.events) && a.lastID == b.lastID && a.retry == b.retry && errors.Is(a.err, b.err)
}

func message(data string) event { return event{data: data} }

func messages(data ...string) (events []event) {
	for _, text := range data {
		events = append(events, message(text))
	}
	return events
}

func TestStreamsAreReadAsTheStandardSaysHoweverTheyAreCut(t *testing.T) {
	const bom = "\ufeff"
	for name, c := range map[string]struct {
		text string
		want []event
	}{
		"one event":                 {"data: hello\n\n", messages("hello")},
		"no space":                  {"data:hello\n\n", messages("hello")},
		"one space only is removed": {"data:  hello \n\n", messages(" hello ")},
		"a colon in the value":      {"data: a: b\n\n", messages("a: b")},
		"CR":                        {"data: a\r\rdata: b\r\r", messages("a", "b")},
		"CR LF":                     {"data: a\r\n\r\ndata: b\r\n\r\n", messages("a", "b")},
		"mixed":                     {"data: a\r\n\ndata: b\n\rdata: c\r\r\n", messages("a", "b", "c")},
		"several lines":             {"data: a\ndata\ndata: b\n\n", messages("a\n\nb")},
		"an empty line":             {"data\n\n", messages("")},
		"two empty lines":           {"data\ndata\n\n", messages("\n")},
		"an unterminated event":     {"data: a\n\ndata: b\n", messages("a")},
		"an unterminated line":      {"data: a\n\ndata: b", messages("a")},
		"comments":                  {": hi\n:\ndata: a\n: data: b\ndata: c\n\n:\n\n", messages("a\nc")},
		"a comment alone":           {":\n\n", nil},
		"a name":                    {"event: add\ndata: a\n\ndata: b\n\n", []event{{"a", "add", ""}, message("b")}},
		"the last name counts":      {"event: add\nevent: remove\ndata: a\n\n", []event{{"a", "remove", ""}}},
		"an empty name":             {"event: add\nevent\ndata: a\n\n", messages("a")},
		"a name without data":       {"event: add\n\ndata: a\n\n", messages("a")},
		"an id": {
			"id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n", []event{{"a", "", "1"}, {"b", "", "1"}, {"c", "", "2"}},
		},
		"an empty id":                 {"id: 1\ndata: a\n\nid\ndata: b\n\n", []event{{"a", "", "1"}, message("b")}},
		"an id without data":          {"id: 1\n\ndata: a\n\n", []event{{"a", "", "1"}}},
		"an id with NUL":              {"id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", []event{{"a", "", "1"}, {"b", "", "1"}}},
		"an id after the data":        {"data: a\nid: 1\n\n", []event{{"a", "", "1"}}},
		"an unterminated id":          {"id: 1\ndata: a\n\nid: 2\ndata: b\n", []event{{"a", "", "1"}}},
		"unknown fields":              {"Data: a\n data: b\ndata : c\ndat: d\ndatas: e\nx\ndata: f\n\n", messages("f")},
		"a byte order mark":           {bom + "data: a\n\n", messages("a")},
		"a byte order mark only":      {bom, nil},
		"two byte order marks":        {bom + bom + "data: a\n\ndata: b\n\n", messages("b")},
		"half a byte order mark":      {bom[:2] + "data: a\n\ndata: b\n\n", messages("b")},
		"half a mark, then a new one": {bom[:1] + bom + "\ndata: b\n\n", messages("b")},
		"a byte order mark later":     {"\n" + bom + "data: a\n\n", nil},
		"a mark and an empty line":    {bom + "\n\ndata: a\n\n", messages("a")},
		"unicode":                     {"data: zażółć 🙂\n\n", messages("zażółć 🙂")},
		"nothing":                     {"", nil},
		"empty lines":                 {"\n\r\r\n\n\n", nil},
		"of the standard: stocks":     {"data: YHOO\ndata: +2\ndata: 10\n\n", messages("YHOO\n+2\n10")},
		"of the standard: four blocks": {
			": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
			[]event{{"first event", "", "1"}, message("second event")},
		},
		"of the standard: two empty": {"data\n\ndata\ndata\n\ndata:", messages("", "\n")},
		"of the standard: a space":   {"data:test\n\ndata: test\n\n", messages("test", "test")},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range len(c.text) + 1 {
				if got := feed(t, c.text, at(n)); got.err != nil || !slices.Equal(got.events, c.want) {
					t.Fatalf("cut at %d: %q, %v, expected %q", n, got.events, got.err, c.want)
				}
			}
			if got := feed(t, c.text, bytewise); got.err != nil || !slices.Equal(got.events, c.want) {
				t.Fatalf("byte by byte: %q, %v, expected %q", got.events, got.err, c.want)
			}
		})
	}
}

func TestRetryIsTakenWhereItIsDigitsOnly(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"retry: 1500": 1500 * time.Millisecond, "retry:0": 0, "retry: 007": 7 * time.Millisecond,
		"retry": -1, "retry:": -1, "retry:  5": -1, "retry: +5": -1, "retry: 5s": -1, "retry: ٣": -1, "Retry: 5": -1,
	} {
		for _, after := range []string{"\n", "\ndata: a\n\n", "\nretry: x\n"} {
			if got := feed(t, line+after, bytewise); got.retry != want {
				t.Errorf("%q: %v, expected %v", line, got.retry, want)
			}
			if got := feed(t, line+after, whole); got.retry != want {
				t.Errorf("%q: %v, expected %v", line, got.retry, want)
			}
		}
	}
	if got := feed(t, "retry: "+strings.Repeat("9", 100)+"\n", whole).retry; got < 24*time.Hour || got > 25*24*time.Hour {
		t.Errorf("%v: expected a long time", got)
	}
}

func TestLastIDIsThatOfACompleteEvent(t *testing.T) {
	for text, want := range map[string]string{
		"id: 1\n\n": "1", "id: 1\n\nid: 2\n": "1", "id: 1\n\nid\n\n": "", "data: a\n\n": "", "id: 1\n\nid: a\x00\n\n": "1",
	} {
		for n := range len(text) + 1 {
			if got := feed(t, text, at(n)).lastID; got != want {
				t.Errorf("%q cut at %d: %q, expected %q", text, n, got, want)
			}
		}
	}
}

func TestARestartDropsAnEventInProgressAndKeepsTheID(t *testing.T) {
	for _, before := range []string{
		"id: 7\nretry: 5\ndata: a\n\nid: 8\nevent: x\ndata: b\nda", "id: 7\nretry: 5\ndata: a\r\r",
		"id: 7\nretry: 5\ndata: a\n\nid: 8\ndata: b",
	} {
		var r Reader
		if _, n, found, err := r.Next([]byte(before)); !found || err != nil {
			t.Fatal(n, err)
		} else if _, _, _, err = r.Next([]byte(before[n:])); err != nil {
			t.Fatal(err)
		}
		r.Restart()
		for _, cut := range []int{1, 5, 11} { // a byte order mark counts again
			text := []byte("\ufeffdata: c\n\n")
			_, n, _, _ := r.Next(text[:cut])
			found, _, ok, err := r.Next(text[n:])
			got := event{string(found.Data), string(found.Name), string(found.ID)}
			if !ok || err != nil || got != (event{"c", "", "7"}) {
				t.Errorf("%q, then cut at %d: %q, %v, %v", before, cut, got, ok, err)
			}
			r.Restart()
		}
		if pause, said := r.Retry(); pause != 5*time.Millisecond || !said {
			t.Errorf("%q: %v, %v", before, pause, said)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	line, half := "data: "+strings.Repeat("a", 1<<16)+"\n", strings.Repeat("a", MaxEvent/2)
	for name, text := range map[string]string{
		"a line":            "data: " + strings.Repeat("a", MaxEvent+1) + "\n\n",
		"a line on its way": strings.Repeat("a", MaxEvent+1),
		"a comment":         ":" + strings.Repeat("a", MaxEvent+1) + "\n\n",
		"many lines":        strings.Repeat(line, MaxEvent>>16+1) + "\n",
		"empty lines":       strings.Repeat("data\n", MaxEvent+2) + "\n",
		"all together":      "data: " + half + "\nid: " + half + "\nevent: c\n\n",
	} {
		pieces := func(rest int) int { return min(rest, 64<<10) }
		if got := feed(t, text, whole); !errors.Is(got.err, ErrTooLarge) || len(got.events) > 0 {
			t.Errorf("%s: %d events, %v", name, len(got.events), got.err)
		}
		if got := feed(t, text, pieces); !errors.Is(got.err, ErrTooLarge) || len(got.events) > 0 {
			t.Errorf("%s in pieces: %d events, %v", name, len(got.events), got.err)
		}
	}
	largest := "data: " + strings.Repeat("a", MaxEvent-len("data: ")) + "\n\n"
	if got := feed(t, strings.Repeat(largest, 2), whole); got.err != nil || len(got.events) != 2 {
		t.Errorf("the largest event: %d events, %v", len(got.events), got.err)
	}
	pings := strings.Repeat(": ping\n", MaxEvent/4)
	if got := feed(t, pings+"data: a\n\n", whole); got.err != nil || len(got.events) != 1 {
		t.Errorf("comments between events: %d events, %v", len(got.events), got.err)
	}
}

func TestMemoryForALargeEventIsGivenBack(t *testing.T) {
	var r Reader
	text := []byte("data: " + strings.Repeat("a", 2*keptCapacity) + "\n\n")
	for _, piece := range [][]byte{text[:len(text)-1], text[len(text)-1:], []byte("data: b\n")} {
		if _, _, _, err := r.Next(piece); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range [][]byte{r.parts.data, r.parts.line} {
		if cap(part) > keptCapacity {
			t.Errorf("%d bytes are held", cap(part))
		}
	}
}

func TestEventsAreReadWithoutAllocation(t *testing.T) {
	text := []byte("id: 17\nevent: token\ndata: a\n\n: ping\n\nid: 18\ndata: b\ndata: c\n\n")
	for _, size := range []int{len(text), 20, 1} {
		var r Reader
		events := 0
		read := func() {
			for rest := text; len(rest) > 0; {
				piece := rest[:min(size, len(rest))]
				rest = rest[len(piece):]
				for {
					_, n, found, err := r.Next(piece)
					if err != nil {
						t.Fatal(err)
					}
					if !found {
						break
					}
					events++
					piece = piece[n:]
				}
			}
		}
		if allocations := testing.AllocsPerRun(100, read); allocations != 0 || events != 2*101 {
			t.Errorf("pieces of %d bytes: %v allocations, %d events", size, allocations, events)
		}
	}
}

func TestAWholeEventIsHandedOutWhereItLies(t *testing.T) {
	var r Reader
	text := []byte("data: hello\n\n")
	if found, _, ok, _ := r.Next(text); !ok || &found.Data[0] != &text[6] || r.parts != nil {
		t.Errorf("%q was copied", found.Data)
	}
}

func TestLineEndsAreFoundAtEveryPlace(t *testing.T) {
	for size := range 20 {
		for place := range size {
			for _, end := range []byte{'\n', '\r'} {
				text := bytes.Repeat([]byte{0x8d}, size) // differs from a CR in the bit that means "found"
				text[place] = end
				if got := lineEnd(text); got != place {
					t.Errorf("%q: %d", text, got)
				}
				if got := lineEnd(text[:place]); got != -1 {
					t.Errorf("%q: %d", text[:place], got)
				}
			}
		}
	}
}

func TestAReaderIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Reader{}); size > 40 {
		t.Errorf("%d bytes for each stream", size)
	}
	if size := unsafe.Sizeof(parts{}); size > 104 {
		t.Errorf("%d bytes more for each stream whose events come in pieces", size)
	}
}
