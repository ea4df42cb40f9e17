package scripted

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
)

// verb is a client's request.
type verb int

const (
	nothing verb = iota
	join
	draw
	leave
)

// dialect is the protocol between the server and one client.
type dialect interface {
	// greet sends the server's first message.
	greet()
	// understand returns the request in a message, and the whiteboard message in it.
	understand(text []byte) (verb, []byte)
	// acknowledge answers a join with this message.
	acknowledge(joined []byte)
	// end is called when the connection ends.
	end()
}

// plain is the dialect whiteboard-json.
type plain struct{ m *member }

func newPlain(_ *Server, m *member) dialect { return plain{m} }

// newPacked returns whiteboard-json in MessagePack.
func newPacked(_ *Server, m *member) dialect {
	m.packed = true
	return plain{m}
}

func (plain) greet() {}

func (plain) end() {}

func (p plain) acknowledge(joined []byte) { p.m.write(joined) }

func (plain) understand(text []byte) (verb, []byte) {
	switch {
	case bytes.HasPrefix(text, []byte(`{"type":"draw"`)):
		return draw, text
	case bytes.HasPrefix(text, []byte(`{"type":"join"`)):
		return join, text
	}
	return leave, text
}

// socketIO is the dialect whiteboard-socketio. It forwards what clients draw unchanged, with the event around it.
type socketIO struct {
	s       *Server
	m       *member
	ended   chan struct{}
	join    []byte       // the id of the last join
	pending atomic.Int64 // UnixNano of the unanswered ping; 0 for none
}

func newSocketIO(s *Server, m *member) dialect {
	return &socketIO{s: s, m: m, ended: make(chan struct{})}
}

// pause returns a time of the open packet.
func pause(said time.Duration) time.Duration {
	if said == 0 {
		return time.Minute
	}
	return said
}

func (d *socketIO) greet() {
	interval := pause(d.s.faults.PingInterval)
	d.m.write(fmt.Appendf(nil,
		`0{"sid":"scripted","upgrades":[],"pingInterval":%d,"pingTimeout":%d,"maxPayload":65536}`,
		interval.Milliseconds(), pause(d.s.faults.PingTimeout).Milliseconds()))
	go d.ping(interval)
}

// ping pings until the connection ends, or until the faults stop it.
func (d *socketIO) ping(interval time.Duration) {
	for {
		select {
		case <-d.ended:
			return
		case <-time.After(interval):
		}
		if until := d.s.faults.PingsUntil; until > 0 && d.s.sinceArm() > until {
			return
		}
		d.pending.Store(time.Now().UnixNano())
		d.s.enginePings.Add(1)
		d.m.write([]byte("2"))
	}
}

// pong counts the answer to a ping.
func (d *socketIO) pong() {
	d.s.enginePongs.Add(1)
	sent := d.pending.Swap(0)
	if sent == 0 || time.Since(time.Unix(0, sent)) > pause(d.s.faults.PingTimeout) {
		d.s.latePongs.Add(1)
	}
}

func (d *socketIO) end() { close(d.ended) }

func (d *socketIO) acknowledge(joined []byte) {
	give := func(id string) error {
		d.m.write(fmt.Appendf(nil, "43%s[%s]", id, joined))
		return nil
	}
	_ = d.s.answer(string(d.join), "987654", give)
}

func (d *socketIO) understand(text []byte) (verb, []byte) {
	switch string(text) {
	case "40":
		d.m.write([]byte(`40{"sid":"scripted"}`))
		return nothing, nil
	case "3":
		d.pong()
		return nothing, nil
	}
	head, body, _ := bytes.Cut(text, []byte(","))
	id, name, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("42")), []byte("["))
	switch string(name) {
	case `"draw"`:
		return draw, text
	case `"join"`:
		d.join = bytes.Clone(id)
		return join, bytes.TrimSuffix(body, []byte("]"))
	case `"leave"`:
		return leave, nil
	}
	return nothing, nil
}
