package protocol

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
)

// Declare makes a protocol from a declaration. Its clients are members of groups or make requests.
func Declare(d declared.Declaration) (Protocol, error) {
	compiled, err := declared.Compile(d)
	if err != nil {
		return Protocol{}, fmt.Errorf("declared protocol: %w", err)
	}
	if compiled.Request != nil {
		return declareRequests(compiled)
	}
	return Protocol{
		subprotocols: compiled.Subprotocol, separator: compiled.Separator, packed: compiled.Packed,
		Others: compiled.Others, PollPeriod: compiled.KeepAlive, mostParts: declared.MostParts,
		locate: func(id Identity) (path, query string) {
			return compiled.Location(valuesOf(id))
		},
		header:          func(id Identity) http.Header { return compiled.Header(valuesOf(id)) },
		NewConversation: func(id Identity) Conversation { return newDeclared(compiled, id) },
	}, nil
}

func valuesOf(id Identity) declared.Values {
	return declared.Values{Group: id.Group, Client: declared.Number(id.Part, id.Client)}
}

// declaredConversation plays a declaration.
type declaredConversation struct {
	protocol *declared.Protocol
	reader   declared.Reader
	writer   declared.Writer
	id       Identity
	epoch    int64  // microseconds
	steps    int    // completed steps of the opening
	key      string // the key of the declaration that the last message matches or violates
}

func newDeclared(p *declared.Protocol, id Identity) *declaredConversation {
	values := valuesOf(id)
	return &declaredConversation{
		protocol: p, reader: p.NewReader(values), writer: p.NewWriter(values), id: id, epoch: id.Epoch.UnixMicro(),
	}
}

// Open implements Conversation, as do the methods below.
func (d *declaredConversation) Open(send Send) (ready bool) {
	for ; d.steps < d.protocol.Steps(); d.steps++ {
		say(send, d.writer.Open(d.steps))
		if d.protocol.Waits(d.steps) {
			return false
		}
	}
	return true
}

func (d *declaredConversation) Join(send Send) (member bool) {
	say(send, d.writer.Join())
	return d.protocol.Joins()
}

func (d *declaredConversation) Leave(send Send) bool {
	say(send, d.writer.Leave())
	return true
}

// poll keeps the connection alive.
func (d *declaredConversation) poll(send Send) { say(send, d.writer.Alive()) }

func (d *declaredConversation) Message(buf []byte, seq uint32, due time.Duration) []byte {
	return d.writer.Message(buf, seq, d.epoch+due.Microseconds())
}

func (d *declaredConversation) Receive(payload []byte, send Send, event *Event) {
	meaning := d.reader.Read(payload, d.steps)
	d.key = meaning.At
	switch meaning.Kind {
	case declared.Delivered:
		event.Kind = Delivery
		event.Sender, event.Seq = declared.Sender(meaning.ID, d.id.Part)
		if event.Undated = meaning.Time < 0; !event.Undated {
			event.SentAt = time.Duration(meaning.Time-d.epoch) * time.Microsecond
		}
	case declared.Opened:
		if d.steps++; d.Open(send) {
			event.Kind = Ready
		}
	case declared.Joined:
		event.Kind = Joined
	case declared.Asked:
		say(send, d.writer.Answer())
	case declared.Refused:
		event.refuse(meaning.Reason)
	case declared.Foreign, declared.Altered:
		event.Kind, event.Reason = Corrupt, meaning.Reason
	case declared.Ignored:
	}
}

// say sends text unless it is empty.
func say(send Send, text []byte) {
	if len(text) > 0 {
		send(text)
	}
}
