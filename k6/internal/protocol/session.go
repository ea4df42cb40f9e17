package protocol

import (
	"fmt"
	"time"
)

// Kind classifies an event of a connection for the client.
type Kind int

// The kinds of events.
const (
	Nothing  Kind = iota // all bytes were taken, and more are needed
	Opened               // the connection can be used
	Ready                // the conversation is open: the client may join
	Joined               // the client is a member
	Delivery             // a message of a member of the group
	Receipt              // a part of what the open exchange of this client owes; Index says which
	Done                 // the open exchange has ended
	Answer               // the receipt of an exchange beside the first; Beside and Seq say which
	Corrupt              // a message whose content is not what its sender sent; Reason says how
	Refused              // the server reported an error; Reason says which
	Closed               // the server ends the connection; Reason says how
	Broken               // the server breaks the protocol; Reason says how
	Matched              // the server named a group; Matcher.Group says which
	Denied               // the client gets no group now, or not that one; Reason says why
	Begun                // the members of the group may send from now on
	Over                 // the group is over, and so is the client's membership
	Left                 // the server acknowledges that the client leaves
	Other                // nothing relevant to the client
)

// Event is the meaning of some bytes. Sender and Seq belong to a Delivery, Index to a Receipt. SentAt belongs to a
// Delivery, and to an Answer that says when its exchange was due. Readers fill in an Event of their caller, because a
// load makes several for each delivery, and passing them as values would cost more than reading the bytes.
type Event struct {
	Kind   Kind
	Sender int
	Seq    uint32
	SentAt time.Duration
	// Undated means that the content of a Delivery does not say when it was due.
	Undated bool
	Index   int
	// Beside is the place of an Answer's exchange in Protocol.Beside.
	Beside int
	// Last means, with Done, that the connection cannot be used again.
	Last   bool
	Reason string
	// Patience is how long the server may be silent from now on; 0 if this event does not change that.
	Patience time.Duration
	// Reply is what the client sends at once; it is valid until the next call of the session.
	Reply []byte
}

// refuse makes the event a Refused.
func (e *Event) refuse(reason string) { e.Kind, e.Reason = Refused, reason }

// breakOff makes the event a Broken.
func (e *Event) breakOff(reason string) { e.Kind, e.Reason = Broken, reason }

// corrupt makes the event a Corrupt, and describes content that no client sent.
func (e *Event) corrupt(format string, values ...any) {
	e.Kind, e.Reason = Corrupt, fmt.Sprintf(format, values...)
}

// Asker is a session with exchanges beside the first. Each owes one Answer to the client itself.
type Asker interface {
	// Ask writes the beginning of an exchange of the kind at index beside of Protocol.Beside.
	Ask(buf []byte, beside int, seq uint32, due time.Duration) []byte
}

// Matcher is a session that asks the server for a group once.
type Matcher interface {
	// Group returns the group that the server named. It is valid after Matched.
	Group() string
}

// Player is a session whose client is a member of groups that the server names, one at a time.
type Player interface {
	// Enter writes a request for membership of a group. Joined or Denied follows.
	Enter(buf []byte, group string) []byte
	// Game returns how many messages the client has to send to the group that it Joined.
	Game() (messages int)
}

// Poller is a session whose client asks for news at times of its own choice.
type Poller interface {
	// Poll writes a request for news; nothing if one is open.
	Poll(buf []byte) []byte
}

// Session is one client's side of one connection: bytes in, events and bytes out. It never waits, reads clocks or uses
// sockets. It appends what it writes to buf.
type Session interface {
	// Open writes the client's first bytes on a new connection.
	Open(buf []byte) []byte
	// Next reads the next event and returns how many bytes of data it took: all of them if the event is Nothing. The data
	// of the next call begins with the byte after these; the bytes stay in place until an event is Nothing. After an error
	// the connection must be closed.
	Next(data []byte, event *Event) (int, error)
	// Join writes a request for membership. It may be repeated until the server acknowledges.
	Join(buf []byte) []byte
	// Message writes a message of the suite.
	Message(buf []byte, seq uint32, due time.Duration) []byte
	// Leave writes a member's request to leave.
	Leave(buf []byte) []byte
	// End handles the end of the connection. It returns an error that says what the end interrupts, or nil if the server
	// may end the connection now.
	End(event *Event) error
	// Close writes the end of the conversation. It writes nothing if the server first has to acknowledge that the client
	// leaves, or if the connection has no such end.
	Close(buf []byte) []byte
}
