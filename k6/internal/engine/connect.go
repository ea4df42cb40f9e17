package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// come connects a client that is due.
func (l *loop) come(c *client, now time.Duration) {
	l.gauges.playing.Add(1)
	l.awaited++
	c.state = waiting
	l.connect(c, now)
}

// connect begins to connect, unless the population has stopped sending.
func (l *loop) connect(c *client, now time.Duration) {
	if now >= c.population.End {
		l.schedule(c, never)
		return
	}
	if c.away != nil {
		l.attempt(c)
	}
	fd, err := openSocket(l.engine.address, l.engine.source(c.number))
	if err != nil {
		l.setback(c, err, now)
		return
	}
	c.fd, c.state = fd, connecting
	if err := l.register(c, fd); err != nil {
		l.setback(c, err, now)
		return
	}
	if l.engine.protocol.Aside() {
		if err := l.connectAside(c); err != nil {
			l.setback(c, err, now)
			return
		}
	}
	c.deadline = now + connectTimeout
	l.schedule(c, c.deadline)
}

// connected continues once the kernel reports the result of the connection attempt.
func (l *loop) connected(c *client, now time.Duration) {
	if err := socketError(c.fd, l.engine.address); err != nil {
		l.setback(c, fmt.Errorf("connect: %w", err), now)
		return
	}
	c.session = l.engine.protocol.NewSession(l.engine.target, l.identity(c))
	l.payload = c.session.Open(l.payload[:0])
	n, err := write(c.fd, l.payload)
	if err == nil && n < len(l.payload) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.setback(c, broken(err), now)
		return
	}
	c.state = shaking
	l.interest(c.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
	l.received(c, nil, now) // a conversation may begin with nothing
}

// identity returns the identity that the client presents to the server.
func (l *loop) identity(c *client) protocol.Identity {
	return protocol.Identity{
		Group: l.engine.groupName(c.population, c.groupNumber), Client: c.number, Epoch: l.engine.origin,
		Query: c.population.Groups.Query, Part: l.engine.part, Length: l.length(c.population),
	}
}

// broken describes why a connection ended before the end of its opening handshake.
func broken(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("opening handshake: %w", err)
}

// tooSlow makes a client try again if it did not become a member in time.
func (l *loop) tooSlow(c *client, now time.Duration) {
	what := map[state]string{
		connecting: "connect: timed out", shaking: "opening handshake: timed out",
		opening: "the conversation was not opened in time", joining: "join not acknowledged in time",
	}[c.state]
	l.setback(c, errors.New(what), now)
}

// setback counts a failed attempt to connect, and makes the client try again.
func (l *loop) setback(c *client, err error, now time.Duration) {
	if what, lacks := shortage(err); lacks {
		l.engine.collector.lack(what)
	} else if c.away != nil {
		l.storms[c.away.number].failed++
		l.engine.collector.complain(err.Error())
	} else {
		l.failed(err.Error())
	}
	l.retry(c, now)
}

// retry makes a client that is not a member reconnect after a pause. It keeps its seat.
func (l *loop) retry(c *client, now time.Duration) {
	l.release(c)
	l.uncount(c)
	if c.away != nil {
		l.backOff(c, now)
		return
	}
	c.state = waiting
	l.schedule(c, now+retryPause)
}

// settle records how long a client took to become a member, from when it was due to connect. A client that never became
// one counts with the time that it waited.
func (l *loop) settle(c *client, at time.Duration) {
	if c.settled {
		return
	}
	c.settled = true
	l.awaited--
	stage := min(l.engine.upcoming(c.seat.Arrival), c.population.Last)
	l.stages[stage].connect.Record(at - c.seat.Arrival)
}
