package engine

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// aside is the second connection of a client. If the first one waits for news, the client sends its messages over the
// second one. The second opens together with the first, and its end ends both. If the server names the groups, the
// second connection carries a single request: see match.
type aside struct {
	fd        int
	connected bool
	session   protocol.Session
	backlog   []byte // not yet accepted by the kernel
}

// connectAside begins to connect.
func (l *loop) connectAside(c *client) error {
	fd, err := openSocket(l.engine.address, l.engine.source(c.number))
	if err != nil {
		return err
	}
	c.aside = &aside{fd: fd, session: l.engine.protocol.NewAside(l.engine.target, l.identity(c))}
	return l.register(c, fd)
}

// releaseAside closes the socket.
func (l *loop) releaseAside(c *client) {
	if c.aside == nil {
		return
	}
	l.byFD[c.aside.fd] = nil
	_ = unix.Close(c.aside.fd)
	protocol.Discard(c.aside.session)
	c.aside = nil
}

// readyAside reads and writes as much as the kernel allows.
func (l *loop) readyAside(c *client, events uint32) {
	now, a := l.now(), c.aside
	if !a.connected {
		if err := socketError(a.fd, l.engine.address); err != nil {
			l.failAside(c, fmt.Errorf("second connection: %w", err), now)
			return
		}
		a.connected = true
		l.interest(a.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	}
	if events&unix.EPOLLOUT != 0 && len(a.backlog) > 0 {
		if err := l.transmitBacklog(a.fd, &a.backlog); err != nil {
			l.failAside(c, err, now)
			return
		}
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	n, err := read(a.fd, l.buf)
	now = l.now()
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil:
		l.failAside(c, fmt.Errorf("second connection lost: %w", err), now)
	case n == 0:
		l.failAside(c, fmt.Errorf("second connection lost: %w", io.EOF), now)
	default:
		l.receivedAside(c, l.buf[:n], now)
	}
	l.fire(now) // a message that is due must not wait behind a long batch of reads
}

// receivedAside handles bytes that arrived from the server at time now.
func (l *loop) receivedAside(c *client, data []byte, now time.Duration) {
	l.passage.ReceivedBytes += int64(len(data))
	event := &l.event
	for a := c.aside; c.aside == a; {
		n, err := a.session.Next(data, event)
		data = data[n:]
		switch {
		case err != nil:
			l.failAside(c, err, now)
			return
		case event.Kind == protocol.Nothing:
			return
		}
		l.handle(c, event, now)
	}
}

// failAside handles the end of the second connection, or a violation of its protocol.
func (l *loop) failAside(c *client, err error, now time.Duration) {
	if l.rooms != nil {
		l.unmatched(c, err, now)
		return
	}
	l.fail(c, err, now)
}

// writeAside sends bytes over the second connection, and keeps those that the kernel does not take, such as before it
// is connected.
func (l *loop) writeAside(c *client, data []byte) {
	a := c.aside
	if !a.connected {
		a.backlog = append(a.backlog, data...)
		return
	}
	if err := l.transmit(a.fd, &a.backlog, data); err != nil {
		l.drop(c, err)
	}
}

// held returns the number of the client's bytes that the kernel has not taken yet.
func (c *client) held() int {
	if c.aside != nil {
		return len(c.aside.backlog)
	}
	return len(c.backlog)
}

// pollKey makes the phases of polls differ from those of messages.
const pollKey = 1 << 60

// nextPoll returns when the client next asks for news; never if it does not poll.
func (l *loop) nextPoll(c *client) time.Duration {
	if l.engine.polls.Period == 0 || c.state != member {
		return never
	}
	return c.polls.Due()
}

// poll asks for news, unless a request for news is open.
func (l *loop) poll(c *client) {
	due := c.at
	c.polls.Advance()
	l.payload = c.session.(protocol.Poller).Poll(l.payload[:0])
	l.write(c, l.payload)
	if stage := l.engine.stageOf(due); stage != ledger.Unmeasured {
		l.stages[stage].lateness.Record(l.now() - due)
	}
	if c.state == member {
		l.scheduleNext(c)
	}
}
