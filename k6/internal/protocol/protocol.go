// Package protocol holds what clients say and understand, one file per protocol. A session is one client's conversation;
// it turns payloads into events and never waits, reads clocks or touches sockets.
package protocol

import (
	"fmt"
	"net/url"
	"sort"
	"strings"
	"time"
)

// Kind says what a received payload means to the client.
type Kind int

// The kinds of events.
const (
	Nothing  Kind = iota
	Ready         // the conversation is open: the client may join
	Joined        // the join was acknowledged: the client is a member
	Delivery      // a message of the suite
	Corrupt       // a message whose content is not what its sender sent; Reason says how
	Refused       // the server reported an error; Reason says which
)

// Event is what one payload meant. Sender, Seq and SentAt are of a Delivery.
type Event struct {
	Kind   Kind
	Sender int
	Seq    uint32
	SentAt time.Duration
	Reason string
}

// Identity is who a session speaks for. SentAt values on the wire are microseconds since Epoch's zero, so that they look like
// the times that real clients send.
type Identity struct {
	Group  string
	Client int
	Epoch  time.Time
}

// Send writes one text payload to the server; the slice may be reused once it returns.
type Send func(payload []byte)

// Session is the conversation of one client.
type Session interface {
	// Open starts the conversation once connected; it returns a Ready event when nothing has to be awaited.
	Open(send Send) Event
	// Join asks for membership. It may be repeated until the server acknowledges.
	Join(send Send)
	// Receive understands one payload, which it does not keep.
	Receive(payload []byte, send Send) Event
	// Message appends a message of the suite to buf.
	Message(buf []byte, seq uint32, sentAt time.Duration) []byte
	// Leave says good-bye before the connection closes.
	Leave(send Send)
}

// Protocol is how clients reach a server and talk to it.
type Protocol struct {
	Path         string
	Subprotocols string
	NewSession   func(Identity) Session
}

var protocols = map[string]Protocol{
	"whiteboard-json":  {Path: "/ws", NewSession: newWhiteboard},
	"whiteboard-stomp": {Path: "/stomp", Subprotocols: "v12.stomp", NewSession: newWhiteboardStomp},
}

// Find looks a protocol up by its name.
func Find(name string) (Protocol, error) {
	found, ok := protocols[name]
	if !ok {
		names := make([]string, 0, len(protocols))
		for known := range protocols {
			names = append(names, known)
		}
		sort.Strings(names)
		return Protocol{}, fmt.Errorf("protocol %q: known are %s", name, strings.Join(names, ", "))
	}
	return found, nil
}

// Target is the URL to dial for a server's base URL, such as http://127.0.0.1:8080 or ws://127.0.0.1:8080.
func (p Protocol) Target(base string) (*url.URL, error) {
	target, err := url.Parse(base)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("url %q: expected something like ws://127.0.0.1:8080", base)
	}
	switch target.Scheme {
	case "ws", "http":
	default:
		return nil, fmt.Errorf("url %q: only ws:// and http:// are supported, benchmark servers without TLS", base)
	}
	if target.Port() == "" {
		target.Host += ":80"
	}
	target.Path = strings.TrimSuffix(target.Path, "/") + p.Path
	return target, nil
}
