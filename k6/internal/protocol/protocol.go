// Package protocol implements the clients of each protocol, one file per protocol. A session is one client's side of a
// connection: it turns bytes into events and never waits, reads clocks or uses sockets.
package protocol

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Identity identifies the client of a session. SentAt values on the wire are microseconds since Epoch's zero, so that
// they look like the times that real clients send.
type Identity struct {
	Group  string
	Client int
	Epoch  time.Time
	// Query is appended to the path of requests.
	Query string
	// Part is the number of the part of the load to which the client belongs. If the server names the groups, the client's
	// name contains the part, because one server serves the clients of all parts.
	Part int
	// Length is the length, in characters, of the games that the client asks for.
	Length int
}

// Protocol defines how clients connect to a server and talk to it: in a conversation over a WebSocket, by requests of
// their own, or as members of groups by requests.
type Protocol struct {
	path  string
	query string // of the URL to dial
	// locate returns each client's path and query, if they differ by client.
	locate       func(Identity) (path, query string)
	subprotocols string
	// separator stands between the messages of one frame, and may end the last one. It is empty if a frame is one message.
	separator []byte
	// packed means that messages are MessagePack in binary frames; the conversation works on their JSON.
	packed bool
	// header returns fields of each client's opening handshake; nil for none.
	header func(Identity) http.Header
	// mostParts is how many generators can share a load; 0 for any number.
	mostParts int
	// NewConversation begins a client's conversation, without the framing.
	NewConversation func(Identity) Conversation
	newRequests     func(*url.URL, Identity) Requests
	newMember       func(*url.URL, Identity) Session
	// newAside begins a session for messages only, if members have a second connection for them.
	newAside func(*url.URL, Identity) Session
	// Matched means that the server names the groups: a client asks for one over a second connection, a new one each time.
	// The sessions of the second connection are then Matchers, and those of the first are Players.
	Matched bool
	// Others means that a message is owed only to the other members of the group; Newest, that only the newest message of
	// each sender is owed: see ledger.Terms.
	Others, Newest bool
	// PollPeriod is the period at which a member asks for news; 0 if it does not. Otherwise its sessions are Pollers.
	PollPeriod time.Duration
	// Receipts is how many receipts each request owes.
	Receipts int
	// asks names the exchanges beside the first that conversations have. Such conversations are Askers.
	asks []string
	// tls configures TLS; nil for none.
	tls *tls.Config
}

// PingExchange is the exchange beside the first that every WebSocket has: a ping, which owes a pong. Its latency is
// that of the server's WebSocket implementation without the application.
const PingExchange = "websocket_ping"

var protocols = map[string]Protocol{}

// register adds a protocol by its name. Each file registers its own; there is no other list.
func register(name string, p Protocol) { protocols[name] = p }

// Plays reports whether there are client numbers for this part of a load.
func (p Protocol) Plays(part int) bool { return p.mostParts == 0 || part < p.mostParts }

// Requests reports whether clients make requests of their own instead of being members of a group.
func (p Protocol) Requests() bool { return p.newRequests != nil }

// Beside returns the names of the exchanges that clients may have beside the first.
func (p Protocol) Beside() []string {
	if p.NewConversation == nil {
		return nil
	}
	return append([]string{PingExchange}, p.asks...)
}

// NewSession begins a client's session for one connection to the target.
func (p Protocol) NewSession(target *url.URL, id Identity) Session {
	return over(p.tls, p.newSession(target, id))
}

func (p Protocol) newSession(target *url.URL, id Identity) Session {
	switch {
	case p.Requests():
		return newKeptAlive(p.newRequests(target, id))
	case p.newMember != nil:
		return p.newMember(target, id)
	case p.locate != nil:
		own := *target
		path, query := p.locate(id)
		own.Path, own.RawQuery = own.Path+path, query
		target = &own
	}
	var header http.Header
	if p.header != nil {
		header = p.header(id)
	}
	session := newWebSocket(target, p.subprotocols, header, p.NewConversation(id))
	session.separator, session.packed = p.separator, p.packed
	return session
}

// Aside reports whether members send their messages over a second connection.
func (p Protocol) Aside() bool { return p.newAside != nil && !p.Matched }

// NewAside begins the session of a client's second connection.
func (p Protocol) NewAside(target *url.URL, id Identity) Session {
	return over(p.tls, p.newAside(target, id))
}

// Find looks a protocol up by its name.
func Find(name string) (Protocol, error) {
	found, ok := protocols[name]
	if !ok {
		known := slices.Sorted(maps.Keys(protocols))
		return Protocol{}, fmt.Errorf("protocol %q: known are %s", name, strings.Join(known, ", "))
	}
	return found, nil
}

// ports are the default ports of the schemes.
var ports = map[string]string{"ws": "80", "http": "80", "wss": "443", "https": "443"}

// Address returns the host and the port of a target.
func Address(target *url.URL) (host, port string) {
	if port = target.Port(); port == "" {
		port = ports[target.Scheme]
	}
	return target.Hostname(), port
}

// Target returns the URL to dial for a server's base URL, such as http://127.0.0.1:8080 or ws://127.0.0.1:8080.
func (p Protocol) Target(base string) (*url.URL, error) {
	target, err := url.Parse(base)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("url %q: expected something like ws://127.0.0.1:8080", base)
	}
	if _, known := ports[target.Scheme]; !known {
		return nil, fmt.Errorf("url %q: expected ws://, wss://, http:// or https://", base)
	}
	target.Path, target.RawQuery = strings.TrimSuffix(target.Path, "/")+p.path, p.query
	return target, nil
}
