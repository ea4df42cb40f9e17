package socketio

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxPause bounds each of the two times in an open packet.
const maxPause = time.Hour

// state is how far a link has come. The order matters.
type state uint8

const (
	unopened  state = iota // waits for the engine's open packet
	opened                 // has requested the namespace
	connected              // events may come
	ended                  // nothing may come
)

// Link is one client's side of a connection: it performs the required opening, and sends immediate answers. The zero
// value waits for the first packet.
type Link struct {
	state    state
	patience time.Duration
	reply    []byte
}

// Patience returns how long the server may take from one ping to the next: the sum of pingInterval and pingTimeout in
// its open packet. It is 0 before that packet has come.
func (l *Link) Patience() time.Duration { return l.patience }

// Receive reads a packet that is allowed in the current state, and sends the answer that it requires at once. After an
// error the connection must be failed.
func (l *Link) Receive(message []byte, send func([]byte)) (Packet, error) {
	p, err := Read(message)
	if err == nil {
		err = l.advance(&p, send)
	}
	return p, err
}

func (l *Link) advance(p *Packet, send func([]byte)) error {
	if p.Namespace != nil && string(p.Namespace) != "/" {
		return fmt.Errorf("a packet of the namespace %.40q, which this client did not ask for", p.Namespace)
	}
	switch {
	case (p.Kind == Open) != (l.state == unopened):
		return errors.New("an open packet has to be the first packet, and no other")
	case l.state == ended:
		return errors.New("a packet after the end")
	}
	switch p.Kind {
	case Open:
		return l.open(p.Data, send)
	case Ping:
		l.reply = AppendPong(l.reply[:0], p.Data)
		send(l.reply)
	case Connect, ConnectError:
		if l.state != opened {
			return errors.New("a second answer to the connection of a namespace")
		}
		l.state = connected
		if p.Kind == ConnectError {
			l.state = ended
		}
	case Event, Ack:
		if l.state != connected {
			return errors.New("an event or acknowledgement before the namespace is connected")
		}
	case Close, Disconnect:
		l.state = ended
	case Noop:
	}
	return nil
}

// open reads the first packet and requests the namespace.
func (l *Link) open(data []byte, send func([]byte)) error {
	var handshake struct {
		SID                       string
		PingInterval, PingTimeout int64 // milliseconds
	}
	if err := json.Unmarshal(data, &handshake); err != nil {
		return fmt.Errorf("the open packet: %w", err)
	}
	if handshake.SID == "" {
		return errors.New("an open packet without sid")
	}
	for name, pause := range map[string]int64{
		"pingInterval": handshake.PingInterval, "pingTimeout": handshake.PingTimeout,
	} {
		if pause < 1 || pause > maxPause.Milliseconds() {
			return fmt.Errorf("an open packet with a %s of %d ms", name, pause)
		}
	}
	l.patience = time.Duration(handshake.PingInterval+handshake.PingTimeout) * time.Millisecond
	l.state = opened
	send(AppendConnect(nil))
	return nil
}
