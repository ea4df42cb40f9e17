package scripted

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// Text is the text of a stream, one character in each event.
const Text = protocol.TokenText

// resetPause lets a client read what was sent: a reset discards the rest.
const resetPause = 50 * time.Millisecond

// stream sends the text, starting after the character of Last-Event-ID.
func (s *HTTPServer) stream(x exchange) bool {
	f := s.faults
	s.count(func(c *HTTPCounts) { c.Streams++ })
	tokens := []rune(Text)
	first, end := 0, len(tokens)
	if id, err := strconv.Atoi(x.request.Header.Get("Last-Event-ID")); err == nil {
		first = min(id+1, end)
	}
	reset, cut := hit(x.number, f.ResetEvery), hit(x.number, f.CutEvery)
	if reset || cut {
		end = (first + end) / 2
	}
	if !s.send(x, tokens, first, end) {
		s.count(func(c *HTTPCounts) { c.Left++ })
		return false
	}
	if reset {
		time.Sleep(resetPause)
		return s.reset(x)
	}
	if cut {
		s.count(func(c *HTTPCounts) { c.Cut++ })
	}
	time.Sleep(f.EndDelay)
	if f.UntilClose {
		return false
	}
	return x.write([]byte("0\r\n\r\n"))
}

// send sends the header and the tokens. It reports whether the client accepted all of them.
func (s *HTTPServer) send(x exchange, tokens []rune, first, end int) bool {
	f := s.faults
	framing := "Transfer-Encoding: chunked\r\n"
	if f.UntilClose {
		framing = "Connection: close\r\n"
	}
	if !x.write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + framing + "\r\n")) {
		return false
	}
	held := -1
	for id := first; id < end; id++ {
		number := s.tokens.Add(1)
		pause := f.Gap
		if id == first {
			pause = f.FirstDelay
		}
		time.Sleep(pause)
		s.stall(f.StallAt, f.StallFor)
		if hit(number, f.LateTokenEvery) {
			s.count(func(c *HTTPCounts) { c.LateTokens++ })
			time.Sleep(f.LateToken)
		}
		sent := []int{id}
		switch {
		case hit(number, f.DropEvery):
			s.count(func(c *HTTPCounts) { c.DroppedTokens++ })
			sent = nil
		case hit(number, f.RepeatEvery):
			s.count(func(c *HTTPCounts) { c.RepeatedTokens++ })
			sent = []int{id, id}
		case hit(number, f.SwapEvery) && held < 0 && id+1 < end:
			held = id
			continue
		}
		if held >= 0 {
			if len(sent) > 0 {
				s.count(func(c *HTTPCounts) { c.SwappedTokens++ })
			}
			sent, held = append(sent, held), -1
		}
		for _, id := range sent {
			if !s.token(x, id, tokens[id]) {
				return false
			}
		}
	}
	return true
}

// token sends one event.
func (s *HTTPServer) token(x exchange, id int, token rune) bool {
	s.count(func(c *HTTPCounts) { c.Tokens++ })
	event := fmt.Sprintf("id:%d\ndata: %c\n\n", id, token)
	if s.faults.UntilClose {
		return x.write([]byte(event))
	}
	parts := []string{event}
	if s.faults.InParts {
		parts = strings.SplitAfter(event, "\n")
		parts = parts[:len(parts)-1] // nothing follows the last LF
	}
	var text []byte
	for _, part := range parts {
		text = fmt.Appendf(text, "%x\r\n%s\r\n", len(part), part)
	}
	return x.write(text)
}
