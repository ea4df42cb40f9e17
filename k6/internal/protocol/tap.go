package protocol

import (
	"net/url"
	"time"
)

// Tap is called with every message and every request of a client: without an event for what the client sends, and with
// its meaning for what it receives. Key is the key of a declaration that a received message matches or violates, or
// empty if there is none.
type Tap func(id Identity, text []byte, event *Event, key string)

// Tapped returns a declared protocol that calls tap with every message sent or received.
func (p Protocol) Tapped(tap Tap) Protocol {
	begin, ask := p.NewConversation, p.newRequests
	if begin != nil {
		p.NewConversation = func(id Identity) Conversation { return &tapped{begin(id), id, tap} }
	}
	if ask != nil {
		p.newRequests = func(target *url.URL, id Identity) Requests {
			made := ask(target, id)
			made.(interface {
				listen(tap func(text []byte, event *Event, key string))
			}).listen(func(text []byte, event *Event, key string) { tap(id, text, event, key) })
			return made
		}
	}
	return p
}

type tapped struct {
	Conversation
	id  Identity
	tap Tap
}

func (t *tapped) heard(send Send) Send {
	return func(payload []byte) {
		t.tap(t.id, payload, nil, "")
		send(payload)
	}
}

func (t *tapped) Open(send Send) bool { return t.Conversation.Open(t.heard(send)) }

func (t *tapped) Join(send Send) bool { return t.Conversation.Join(t.heard(send)) }

func (t *tapped) Leave(send Send) bool { return t.Conversation.Leave(t.heard(send)) }

func (t *tapped) poll(send Send) { t.Conversation.(poller).poll(t.heard(send)) }

func (t *tapped) Message(buf []byte, seq uint32, due time.Duration) []byte {
	from := len(buf)
	buf = t.Conversation.Message(buf, seq, due)
	t.tap(t.id, buf[from:], nil, "")
	return buf
}

func (t *tapped) Receive(payload []byte, send Send, event *Event) {
	answers := [][]byte(nil)
	t.Conversation.Receive(payload, func(answer []byte) {
		answers = append(answers, append([]byte(nil), answer...))
		send(answer)
	}, event)
	key := ""
	if declared, ok := t.Conversation.(*declaredConversation); ok {
		key = declared.key
	}
	t.tap(t.id, payload, event, key)
	for _, answer := range answers { // after the message that they answer
		t.tap(t.id, answer, nil, "")
	}
}
