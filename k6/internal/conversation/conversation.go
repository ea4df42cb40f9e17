// Package conversation plays one conversation of two clients with a running server, and reports every message and its
// meaning. It checks whether the server speaks a declared protocol.
package conversation

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// Config names the server, and how long each answer may take.
type Config struct {
	URL string
	// Authorities is a file of the only certificates that are trusted: see protocol.Secured.
	Authorities string
	Declaration declared.Declaration
	Within      time.Duration
}

// Report is the transcript of a conversation.
type Report struct {
	Lines []Line `json:"lines"`
	// Fault is what is wrong with the declaration; nil if everything matched it.
	Fault *Fault `json:"fault"`
}

// Line is a message, or the beginning or end of a connection.
type Line struct {
	AtUS   int64  `json:"at_us"`
	Client int    `json:"client"`
	Kind   string `json:"kind"` // sent, received or connection
	Text   string `json:"text"`
	// Meaning is empty for messages sent.
	Meaning    string `json:"meaning"`
	Understood bool   `json:"understood"`
}

// Fault is a mismatch, and the key of the declaration that it violates.
type Fault struct {
	At   string `json:"at"`
	What string `json:"what"`
}

// Error implements error.
func (f *Fault) Error() string { return f.At + ": " + f.What }

// Keys of the declaration for messages that nothing declares, and for what comes before a join.
const (
	undeclared = "ignore"
	opening    = "open"
)

// settle is how long clients wait for unannounced messages, such as a second delivery.
const settle = 100 * time.Millisecond

// Play plays a conversation. It returns an error if the declaration is not at fault: no server answers, or a secret is
// not available.
func Play(config Config) (*Report, error) {
	declaration, err := protocol.Declare(config.Declaration)
	if err != nil {
		return nil, err
	}
	redactor, err := declared.Compile(config.Declaration)
	if err != nil {
		return nil, err
	}
	p := &play{
		config: config, redact: redactor.Redact, began: time.Now(), report: &Report{Lines: []Line{}},
		due: map[sent]time.Duration{}, heard: make(chan chunk), over: make(chan struct{}),
	}
	defer close(p.over)
	p.protocol = declaration.Tapped(p.tap)
	if p.target, err = p.protocol.Target(config.URL); err != nil {
		return nil, err
	}
	if p.protocol, err = p.protocol.Secured(p.target, config.Authorities); err != nil {
		return nil, err
	}
	err = p.all()
	for _, s := range p.speakers {
		_ = s.conn.Close()
		protocol.Discard(s.session)
	}
	if errors.As(err, &p.report.Fault) {
		err = nil
	}
	return p.report, err
}

// all plays the whole conversation: two clients connect and send three messages, one after the other.
func (p *play) all() error {
	come, say, end := p.enter, p.speak, p.leave
	if p.protocol.Requests() {
		come, say, end = p.connect, p.request, func() error { return nil }
	}
	group := "check-" + strconv.FormatInt(p.began.Unix(), 36) // a new group on every run
	for number := range 2 {
		if err := come(protocol.Identity{Group: group, Client: number, Epoch: p.began}); err != nil {
			return err
		}
	}
	for _, turn := range []sent{{0, 0}, {1, 0}, {0, 1}} {
		if err := say(turn); err != nil {
			return err
		}
	}
	if err := end(); err != nil {
		return err
	}
	if p.foreign != nil {
		return p.foreign
	}
	return nil
}

// open opens a connection of a client, which replaces its previous one, and sends the client's first bytes.
func (p *play) open(id protocol.Identity) (*speaker, error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(protocol.Address(p.target)), p.config.Within)
	if err != nil {
		return nil, fmt.Errorf("no server answers: %w", err)
	}
	s := p.newSpeaker(id, conn)
	return s, s.write(s.session.Open(nil))
}

// enter makes a client a member.
func (p *play) enter(id protocol.Identity) error {
	s, err := p.open(id)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		done *bool
		at   string
		what string
	}{
		{&s.opened, "websocket.path", "the opening handshake is not answered"},
		{&s.ready, opening, "the acknowledgement never comes"},
		{&s.joined, "join.acknowledged", "the acknowledgement never comes"},
	} {
		err := p.await(func() bool { return *step.done }, step.at, step.what)
		if fault := (*Fault)(nil); errors.As(err, &fault) && fault.At == opening {
			fault.At = p.unacknowledged(s)
		}
		if err != nil {
			return err
		}
	}
	return p.listen(settle) // for servers that acknowledge nothing, and for messages to new members
}

// speak sends a message and waits until every client that is owed it has received it.
func (p *play) speak(turn sent) error {
	s := p.speakers[turn.client]
	p.due[turn] = p.elapsed()
	if err := s.write(s.session.Message(nil, turn.seq, p.due[turn])); err != nil {
		return err
	}
	for number, receiver := range p.speakers {
		if p.protocol.Others && number == turn.client {
			continue
		}
		what := fmt.Sprintf("client %d never receives message %d of client %d", number, turn.seq, turn.client)
		if err := p.await(func() bool { return receiver.got[turn] > 0 }, "message.received", what); err != nil {
			return err
		}
	}
	return p.listen(settle)
}

func (p *play) keepAlive() error {
	if p.protocol.PollPeriod == 0 {
		return nil
	}
	for _, s := range p.speakers {
		if err := s.write(s.session.(protocol.Poller).Poll(nil)); err != nil {
			return err
		}
	}
	return p.listen(settle)
}

// leave sends the keep-alive once, if clients have to, and ends the memberships.
func (p *play) leave() error {
	if err := p.keepAlive(); err != nil {
		return err
	}
	for _, s := range p.speakers {
		if err := s.write(s.session.Leave(nil)); err != nil {
			return err
		}
	}
	if err := p.listen(settle); err != nil {
		return err
	}
	for _, s := range p.speakers {
		_ = s.write(s.session.Close(nil))
	}
	return nil
}
