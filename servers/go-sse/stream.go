package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

//go:embed text.txt
var textFile string

// text has a character for each event.
var text = []rune(textFile)

const maxPace = 1000

// stream is what a client requests: the characters from first on, pace of them a second, or without a pause if pace is
// 0.
type stream struct{ first, pace int }

// parseRequest reads the request for a stream. The text of its error is sent to the client.
func parseRequest(request *http.Request) (stream, error) {
	var wanted stream
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return wanted, errors.New("the query cannot be read")
	}
	if values, ok := query["pace"]; ok {
		if wanted.pace, ok = parseInteger(values, 1, maxPace); !ok {
			return wanted, fmt.Errorf("pace must be an integer from 1 to %d", maxPace)
		}
	}
	if values, ok := request.Header["Last-Event-Id"]; ok {
		last, ok := parseInteger(values, 0, len(text)-1)
		if !ok {
			return wanted, fmt.Errorf("Last-Event-ID must be an integer from 0 to %d", len(text)-1)
		}
		wanted.first = last + 1
	}
	return wanted, nil
}

// parseInteger accepts one value in decimal digits, without a sign or a leading zero.
func parseInteger(values []string, least, most int) (int, bool) {
	if len(values) != 1 {
		return 0, false
	}
	n, err := strconv.Atoi(values[0])
	return n, err == nil && strconv.Itoa(n) == values[0] && least <= n && n <= most
}

// send returns after the last event, or as soon as the context is done.
func (s stream) send(ctx context.Context, response http.ResponseWriter) {
	controller := http.NewResponseController(response)
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var event []byte
	for number := s.first; number < len(text); number++ {
		if s.pace > 0 {
			// Counted from the start, so that a late event does not delay those after it.
			due := start.Add(time.Duration(number-s.first) * time.Second / time.Duration(s.pace))
			timer.Reset(time.Until(due))
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
		event = appendEvent(event[:0], number)
		if _, err := response.Write(event); err != nil {
			return
		}
		if err := controller.Flush(); err != nil {
			return
		}
	}
}

func appendEvent(event []byte, number int) []byte {
	event = append(event, "id: "...)
	event = strconv.AppendInt(event, int64(number), 10)
	event = append(event, "\ndata: "...)
	event = utf8.AppendRune(event, text[number])
	return append(event, "\n\n"...)
}
