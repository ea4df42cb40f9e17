package conversation

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// play is a conversation in progress.
type play struct {
	config   Config
	protocol protocol.Protocol
	target   *url.URL
	redact   func(string) string
	began    time.Time
	report   *Report
	speakers []*speaker
	due      map[sent]time.Duration
	heard    chan chunk
	over     chan struct{} // closed at the end
	said     string        // the last error that the server reported
	foreign  *Fault        // the first message that is not declared, instead of an expected one or in addition
}

// sent is a message of a client.
type sent struct {
	client int
	seq    uint32
}

// chunk is what arrived on a connection; err is how the connection ended.
type chunk struct {
	from *speaker
	data []byte
	err  error
}

// speaker is one of the clients.
type speaker struct {
	id                    protocol.Identity
	conn                  net.Conn
	session               protocol.Session
	key                   string // the key that the last message matches or violates
	opened, ready, joined bool
	acknowledged          int // acknowledged steps of the opening
	got                   map[sent]int

	turn     sent        // the open request
	receipts map[int]int // receipts of the answer, by number
	heard    int         // how often a part of the answer arrived
	done     bool        // the answer has ended
	over     bool        // the connection has ended, too
	// refusedAt is the key by which the answer is an error.
	refusedAt string
}

func (p *play) newSpeaker(id protocol.Identity, conn net.Conn) *speaker {
	s := &speaker{id: id, conn: conn, session: p.protocol.NewSession(p.target, id), got: map[sent]int{}}
	if id.Client < len(p.speakers) {
		before := p.speakers[id.Client]
		_ = before.conn.Close()
		protocol.Discard(before.session)
		p.speakers[id.Client] = s
	} else {
		p.speakers = append(p.speakers, s)
	}
	p.line(id.Client, "connection", "connects to "+p.target.Host, true, "")
	go func() {
		for {
			buf := make([]byte, 64<<10)
			n, err := conn.Read(buf)
			select {
			case p.heard <- chunk{s, buf[:n], err}:
			case <-p.over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *speaker) write(data []byte) error {
	if _, err := s.conn.Write(data); err != nil {
		return &Fault{"", fmt.Sprintf("client %d: the server ended the connection: %s", s.id.Client, err)}
	}
	return nil
}

// elapsed returns the time since the beginning, in whole microseconds.
func (p *play) elapsed() time.Duration { return time.Since(p.began).Truncate(time.Microsecond) }

// unacknowledged returns the key of the opening's step whose acknowledgement a client waits for.
func (p *play) unacknowledged(s *speaker) string {
	steps, heard := p.config.Declaration.Open, s.acknowledged
	for number, step := range steps {
		switch {
		case step.Acknowledged == nil:
		case heard == 0:
			return declared.OpenKey(number, len(steps))
		default:
			heard--
		}
	}
	return opening
}

// await listens until a condition holds. If it never does, the fault says what did not happen.
func (p *play) await(is func() bool, at, what string) error {
	deadline := time.Now().Add(p.config.Within)
	for !is() {
		if left := time.Until(deadline); left <= 0 {
			what = fmt.Sprintf("%s within %g s", what, p.config.Within.Seconds())
			switch {
			case p.said != "":
				what += "; the server reported " + p.said
			case p.foreign != nil:
				what += "; what came is " + p.foreign.What
			}
			return &Fault{at, what}
		} else if err := p.hear(left); err != nil {
			return err
		}
	}
	return nil
}

// listen handles everything that arrives within the period.
func (p *play) listen(period time.Duration) error {
	for end := time.Now().Add(period); time.Now().Before(end); {
		if err := p.hear(time.Until(end)); err != nil {
			return err
		}
	}
	return nil
}

// hear waits for one chunk.
func (p *play) hear(most time.Duration) error {
	select {
	case c := <-p.heard:
		if err := p.understand(c.from, c.data); err != nil {
			return err
		}
		switch {
		case c.err == nil || p.speakers[c.from.id.Client] != c.from: // from a connection that was replaced
		case p.protocol.Requests():
			return p.hungUp(c.from, c.err)
		default:
			return p.ended(c.from, c.err)
		}
	case <-time.After(most):
	}
	return nil
}

func (p *play) ended(s *speaker, err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("the server ended it")
	}
	p.line(s.id.Client, "connection", "ends: "+err.Error(), false, "")
	what := fmt.Sprintf("client %d: the connection ends: %s", s.id.Client, err)
	if p.said != "" {
		what += "; it reported " + p.said
	}
	return &Fault{"", what}
}

func (p *play) understand(s *speaker, data []byte) error {
	var event protocol.Event
	for {
		n, err := s.session.Next(data, &event)
		data = data[n:]
		if insecure := (*protocol.InsecureError)(nil); errors.As(err, &insecure) {
			return err
		} else if err != nil {
			at := ""
			if !s.opened {
				at = "websocket.path"
			}
			return &Fault{at, err.Error()}
		}
		if event.Kind == protocol.Nothing {
			return nil
		}
		if err := s.write(event.Reply); err != nil {
			return err
		}
		if err := p.act(s, &event); err != nil {
			return err
		}
	}
}

func (p *play) act(s *speaker, event *protocol.Event) error {
	switch event.Kind {
	case protocol.Opened:
		s.opened = true
		p.line(s.id.Client, "connection", "is open", true, "")
	case protocol.Ready:
		s.ready = true
		return s.write(s.session.Join(nil))
	case protocol.Joined:
		s.joined = true
	case protocol.Delivery:
		return p.delivered(s, event)
	case protocol.Receipt:
		return p.received(s, event.Index)
	case protocol.Done:
		s.done, s.over = true, s.over || event.Last
	case protocol.Corrupt:
		return p.wrong(&Fault{s.key, event.Reason})
	case protocol.Refused:
		p.said, s.refusedAt = event.Reason, s.key
	case protocol.Closed, protocol.Broken:
		return &Fault{"", fmt.Sprintf("client %d: %s", s.id.Client, event.Reason)}
	default:
	}
	return nil
}

// wrong keeps a message that is not declared until the end, or returns what is wrong with a declared one.
func (p *play) wrong(fault *Fault) error {
	if fault.At != undeclared {
		return fault
	}
	if p.foreign == nil {
		p.foreign = fault
	}
	return nil
}

// delivered compares a delivery with what was sent.
func (p *play) delivered(s *speaker, event *protocol.Event) error {
	message := sent{event.Sender, event.Seq}
	due, known := p.due[message]
	s.got[message]++
	switch {
	case !known:
		return &Fault{"message.id", fmt.Sprintf("client %d receives message %d of client %d, which nobody sent", s.id.Client,
			event.Seq, event.Sender)}
	case !event.Undated && event.SentAt != due:
		return &Fault{"message.time", fmt.Sprintf("message %d of client %d has another time than it was sent with",
			event.Seq, event.Sender)}
	case s.got[message] > 1:
		return &Fault{"message.id", fmt.Sprintf("the id is not unique: client %d receives that of message %d of client %d "+
			"%d times", s.id.Client, event.Seq, event.Sender, s.got[message])}
	}
	return nil
}

// tap records a message.
func (p *play) tap(id protocol.Identity, text []byte, event *protocol.Event, key string) {
	if event == nil {
		p.line(id.Client, "sent", string(text), true, "")
		return
	}
	s := p.speakers[id.Client]
	s.heard++
	if s.key = key; strings.HasPrefix(key, opening) {
		s.acknowledged++
	}
	meaning := "ignored"
	switch event.Kind {
	case protocol.Joined:
		meaning = "join.acknowledged"
	case protocol.Delivery:
		meaning = fmt.Sprintf("message %d of client %d", event.Seq, event.Sender)
	case protocol.Receipt:
		meaning = p.meaning(s, event.Index)
	case protocol.Refused:
		meaning = "error: " + event.Reason
	case protocol.Corrupt:
		meaning = key + ": " + event.Reason
	default:
		if key != "" {
			meaning = key
		}
	}
	p.line(id.Client, "received", string(text), event.Kind != protocol.Corrupt, meaning)
}

func (p *play) line(client int, kind, text string, understood bool, meaning string) {
	p.report.Lines = append(p.report.Lines, Line{
		AtUS: time.Since(p.began).Microseconds(), Client: client, Kind: kind, Text: p.redact(text), Meaning: meaning,
		Understood: understood,
	})
}
