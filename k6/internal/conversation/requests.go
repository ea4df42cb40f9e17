package conversation

import (
	"fmt"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// connect opens a connection for requests.
func (p *play) connect(id protocol.Identity) error {
	s, err := p.open(id)
	if err != nil {
		return err
	}
	if err := p.understand(s, nil); err != nil { // nothing has to be sent before the first request
		return err
	}
	return p.await(func() bool { return s.opened }, p.key("path"), "the connection cannot be used")
}

// key returns the full name of a key of the declaration's transport.
func (p *play) key(name string) string {
	if p.config.Declaration.Request.Stream == nil {
		return "http." + name
	}
	return "sse." + name
}

// request makes a request and waits for the end of its answer.
func (p *play) request(turn sent) error {
	s := p.speakers[turn.client]
	if s.over {
		if err := p.connect(s.id); err != nil {
			return err
		}
		s = p.speakers[turn.client]
	}
	s.turn, s.receipts, s.heard, s.done = turn, map[int]int{}, 0, false
	p.said = ""
	if err := s.write(s.session.Message(nil, turn.seq, p.elapsed())); err != nil {
		return err
	}
	name := fmt.Sprintf("request %d of client %d", turn.seq, turn.client)
	for !s.done { // a stream may take long as long as parts of it arrive
		heard, what := s.heard, name+" is not answered"
		if heard > 0 {
			what = "the answer to " + name + " does not end, and nothing more comes"
		}
		if err := p.await(func() bool { return s.done || s.heard > heard }, p.key("path"), what); err != nil {
			return err
		}
	}
	return p.owed(s, name)
}

// owed compares an answer with what it owes.
func (p *play) owed(s *speaker, name string) error {
	owes, got := p.protocol.Receipts, len(s.receipts)
	switch {
	case p.said != "":
		return &Fault{s.refusedAt, name + " is refused: " + p.said}
	case got == 0 && p.foreign != nil:
		return &Fault{"message.received", name + " gets nothing of that; what came is " + p.foreign.What}
	case got == 0:
		return &Fault{"message.received", "nothing in the answer to " + name + " is that"}
	case got < owes:
		return &Fault{"sse.tokens", fmt.Sprintf("%s gets %d of %d tokens", name, got, owes)}
	}
	return nil
}

// meaning returns the meaning of a receipt of the open request.
func (p *play) meaning(s *speaker, index int) string {
	answer := fmt.Sprintf("the answer to request %d of client %d", s.turn.seq, s.turn.client)
	if p.config.Declaration.Request.Stream == nil {
		return answer
	}
	return fmt.Sprintf("token %d of %s", index, answer)
}

// received counts a receipt of the open request.
func (p *play) received(s *speaker, index int) error {
	s.receipts[index]++
	switch {
	case index >= p.protocol.Receipts:
		return &Fault{"sse.tokens", fmt.Sprintf("the stream has token %d, and the first one is token 0", index)}
	case s.receipts[index] > 1:
		return &Fault{"sse.number", fmt.Sprintf("token %d comes twice in one stream", index)}
	}
	return nil
}

// hungUp handles the end of a connection, which may be the end of an answer.
func (p *play) hungUp(s *speaker, err error) error {
	s.over = true
	var event protocol.Event
	if s.session.End(&event) != nil {
		return p.ended(s, err)
	}
	p.line(s.id.Client, "connection", "ends", true, "")
	for event.Kind != protocol.Nothing {
		if err := p.act(s, &event); err != nil {
			return err
		}
		if _, err := s.session.Next(nil, &event); err != nil {
			return err
		}
	}
	return nil
}
