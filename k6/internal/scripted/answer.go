package scripted

import (
	"time"

	"github.com/gorilla/websocket"
)

// pong answers a ping, or injects a fault.
func (s *Server) pong(conn *websocket.Conn, data string) error {
	if s.faults.Silent {
		s.pings.Add(1)
		s.unanswered.Add(1)
		return nil
	}
	return s.answer(data, "ping\xff\xff\xff\xff", func(data string) error {
		return conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
}

// answer sends the right answer, or a fault instead.
func (s *Server) answer(right, foreign string, give func(string) error) error {
	number := s.pings.Add(1)
	every := func(n int64) bool { return n > 0 && number%n == 0 }
	switch {
	case every(s.faults.UnansweredEvery):
		s.unanswered.Add(1)
		return nil
	case every(s.faults.ForeignEvery):
		s.misanswered.Add(1)
		return give(foreign)
	case every(s.faults.TwiceEvery):
		s.answeredTwice.Add(1)
		if err := give(right); err != nil {
			return err
		}
	}
	return give(right)
}
