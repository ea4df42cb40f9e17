package protocol

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/pushbench/pushbench/k6/internal/secure"
)

// clearSize is how much is decrypted at a time. Each session has such a buffer, so it is no larger than a few messages.
const clearSize = 4 << 10

// InsecureError means that TLS failed: the server is not authenticated, or its bytes were altered on the way.
type InsecureError struct{ cause error }

func (e *InsecureError) Error() string { return fmt.Sprintf("TLS: %s", e.cause) }
func (e *InsecureError) Unwrap() error { return e.cause }

// Secured returns the protocol over TLS if the target is a wss:// or https:// URL. Authorities is a PEM file of the
// only certificates that are trusted; without one, the system's are.
func (p Protocol) Secured(target *url.URL, authorities string) (Protocol, error) {
	if target.Scheme != "wss" && target.Scheme != "https" {
		return p, nil
	}
	config, err := secure.Config(target.Hostname(), authorities)
	p.tls = config
	return p, err
}

// secured is a session inside TLS.
type secured struct {
	Session
	conn   *secure.Conn
	clear  []byte // decrypted, but not yet read by the session
	buf    []byte
	reply  []byte
	begins []byte // what the session sends first, held until the handshake is over
}

// over wraps a session in TLS if there is a configuration.
func over(config *tls.Config, session Session) Session {
	if config == nil {
		return session
	}
	return &secured{Session: session, conn: secure.New(config), buf: make([]byte, clearSize)}
}

// Discard releases the resources of a session that will not be used again.
func Discard(session Session) {
	if s, ok := session.(*secured); ok {
		s.conn.End()
	}
}

// Open implements Session, as do the methods below.
func (s *secured) Open(buf []byte) []byte {
	s.begins = s.Session.Open(nil)
	_, _ = s.conn.Shake() // the server has to answer before anything can fail
	return s.conn.Sent(buf)
}

func (s *secured) Next(data []byte, event *Event) (int, error) {
	*event = Event{}
	taken := len(data)
	s.conn.Received(data)
	if !s.conn.Shaken() {
		err := s.shake()
		if s.reply = s.conn.Sent(s.reply[:0]); len(s.reply) > 0 && err == nil {
			event.Kind, event.Reply = Other, s.reply
		}
		if err != nil || event.Kind == Other || !s.conn.Shaken() {
			return taken, err
		}
	}
	return taken, s.read(event)
}

// shake continues the handshake; once that is over, it sends what the session sends first.
func (s *secured) shake() error {
	done, err := s.conn.Shake()
	if err == nil && done {
		err = s.conn.Write(s.begins)
	}
	if err != nil {
		return &InsecureError{err}
	}
	return nil
}

// read finds the next event in the decrypted bytes.
func (s *secured) read(event *Event) error {
	for {
		n, err := s.Session.Next(s.clear, event)
		s.clear = s.clear[n:]
		if err != nil {
			return err
		}
		if event.Kind != Nothing {
			return s.encrypt(event)
		}
		if n, err = s.conn.Read(s.buf); n == 0 {
			return s.used(err, event)
		}
		s.clear = s.buf[:n]
	}
}

// encrypt replaces the reply of an event by its encrypted form.
func (s *secured) encrypt(event *Event) error {
	if len(event.Reply) > 0 {
		if err := s.conn.Write(event.Reply); err != nil {
			return &InsecureError{err}
		}
	}
	s.reply = s.conn.Sent(s.reply[:0])
	event.Reply = s.reply
	return nil
}

// used handles the end of the decrypted bytes: more are needed, the server has ended the connection, or TLS has failed.
func (s *secured) used(err error, event *Event) error {
	switch {
	case err == nil || errors.Is(err, secure.ErrMore):
		if s.reply = s.conn.Sent(s.reply[:0]); len(s.reply) > 0 { // such as new keys
			event.Kind, event.Reply = Other, s.reply
		}
		return nil
	case errors.Is(err, io.EOF):
		if err := s.Session.End(event); err != nil {
			return fmt.Errorf("connection lost: %w", err)
		}
		return nil
	default:
		return &InsecureError{err}
	}
}

// said encrypts text that the session wrote, and appends it to buf.
func (s *secured) said(buf, text []byte) []byte {
	if len(text) > 0 && s.conn.Shaken() {
		_ = s.conn.Write(text) // into memory; Next returns the error that ended the connection
	}
	return s.conn.Sent(buf)
}

func (s *secured) Join(buf []byte) []byte { return s.said(buf, s.Session.Join(nil)) }

func (s *secured) Leave(buf []byte) []byte { return s.said(buf, s.Session.Leave(nil)) }

func (s *secured) Close(buf []byte) []byte { return s.said(buf, s.Session.Close(nil)) }

func (s *secured) Message(buf []byte, seq uint32, due time.Duration) []byte {
	s.reply = s.Session.Message(s.reply[:0], seq, due)
	return s.said(buf, s.reply)
}

// Ask implements Asker, Poll implements Poller, Enter and Game implement Player, and Group implements Matcher. They are
// called only if the session implements them.
func (s *secured) Ask(buf []byte, beside int, seq uint32, due time.Duration) []byte {
	return s.said(buf, s.Session.(Asker).Ask(nil, beside, seq, due))
}

func (s *secured) Poll(buf []byte) []byte { return s.said(buf, s.Session.(Poller).Poll(nil)) }

func (s *secured) Enter(buf []byte, group string) []byte {
	return s.said(buf, s.Session.(Player).Enter(nil, group))
}

func (s *secured) Game() int { return s.Session.(Player).Game() }

func (s *secured) Group() string { return s.Session.(Matcher).Group() }
