package sse

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// reference reads a whole stream as the HTML standard describes it ("Server-sent events", "Interpreting an event
// stream").
func reference(text string) stream {
	got := stream{retry: -1}
	lines := regexp.MustCompile("\r\n|\r|\n").Split(strings.TrimPrefix(text, "\ufeff"), -1)
	var data, name, id string
	for _, line := range lines[:len(lines)-1] { // the last line is incomplete
		if line == "" {
			got.lastID = id
			if data != "" {
				got.events = append(got.events, event{strings.TrimSuffix(data, "\n"), name, got.lastID})
			}
			data, name = "", ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data += value + "\n"
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		case "retry":
			if regexp.MustCompile(`^[0-9]+$`).MatchString(value) {
				pause, err := strconv.ParseInt(value, 10, 32)
				got.retry = time.Duration(pause) * time.Millisecond
				if err != nil {
					got.retry = veryLong
				}
			}
		}
	}
	return got
}

// veryLong stands for every time of 24 days or more, the limit of the reader's numbers.
const veryLong = 24 * 24 * time.Hour

// FuzzEvents compares the reader with the reference, and all ways of cutting the stream with each other.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{
		"id: 1\nevent: token\ndata: a\n\nid: 2\ndata: b\n\n", "data: a\r\ndata: b\r\n\r\n", "data: a\r\rdata\r\r",
		": ping\n\nretry: 1500\n\n",
		"\ufeffdata: a\n\n", "\xef\xbbdata: a\n\n", "id: 1\x00\nid\ndata\n\n", "data\ndata\n\nevent\nevent: a\n\n",
		"retry: 99999999999\n",
	} {
		f.Add([]byte(text), uint64(len(text)))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		text := string(data)
		want := reference(text)
		random := rand.New(rand.NewPCG(seed, 0))
		for name, next := range map[string]func(int) int{
			"whole": whole, "bytewise": bytewise, "cut once": at(int(seed % uint64(len(text)+1))),
			"randomly": func(rest int) int { return min(rest, 1+random.IntN(12)) },
		} {
			got := feed(t, text, next)
			got.retry = min(got.retry, veryLong)
			want.retry = min(want.retry, veryLong)
			if !same(got, want) {
				t.Fatalf("%q %s:\ngot       %+v\nreference %+v", text, name, got, want)
			}
		}
	})
}
