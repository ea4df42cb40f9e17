package engine

import (
	"errors"
	"time"

	"github.com/pushbench/pushbench/k6/internal/protocol"
)

// match makes a client ask the server for a room over a separate connection, unless it is doing so already. It watches
// the client until it is in a room.
func (l *loop) match(c *client, now time.Duration) {
	if c.aside == nil && c.playing.next == "" {
		if err := l.connectAside(c); err != nil {
			l.unmatched(c, err, now)
			return
		}
		l.payload = c.aside.session.Join(l.payload[:0])
		l.writeAside(c, l.payload)
	}
	l.lookAt(c, c.deadline)
}

// lookAt makes the loop check at t a client that is in no room.
func (l *loop) lookAt(c *client, t time.Duration) {
	if c.state != member {
		l.schedule(c, t)
		return
	}
	c.playing.limit = t
	l.scheduleNext(c)
}

// play handles the events of a game.
func (l *loop) play(c *client, event *protocol.Event, now time.Duration) {
	switch event.Kind {
	case protocol.Matched:
		c.playing.next = c.aside.session.(protocol.Matcher).Group()
		l.releaseAside(c)
		l.payload = c.session.(protocol.Player).Enter(l.payload[:0], c.playing.next)
		l.write(c, l.payload)
	case protocol.Denied:
		l.denied(c, event.Reason, now)
	case protocol.Begun:
		l.begun(c, now)
	case protocol.Over:
		l.gameOver(c, now)
	}
}

// denied makes a client ask again if it gets no room, or not the one that it asked for. A join that comes too late,
// because the room was closed after the matchmaking, is not an error.
func (l *loop) denied(c *client, reason string, now time.Duration) {
	if c.aside != nil {
		l.unmatched(c, errors.New(reason), now)
		return
	}
	l.engine.collector.complain("the server refused a join: " + reason)
	l.again(c, now)
}

// unmatched counts a failed request for a room, and makes the client ask again after a pause.
func (l *loop) unmatched(c *client, err error, now time.Duration) {
	if what, lacks := shortage(err); lacks {
		l.engine.collector.lack(what)
	} else {
		l.failed(err.Error())
	}
	l.again(c, now)
}

// again makes a client ask for a room after a pause.
func (l *loop) again(c *client, now time.Duration) {
	l.releaseAside(c)
	c.playing.next = ""
	l.lookAt(c, min(now+retryPause, c.deadline))
}

// lookAfter handles the time limit of a member.
func (l *loop) lookAfter(c *client) {
	now := c.at
	switch {
	case now >= c.population.End: // no client types any more, and no game ends
		c.playing.limit = never
		l.scheduleNext(c)
	case c.playing.room == nil && now < c.deadline:
		l.match(c, now)
	case c.playing.room == nil:
		l.forsake(c, errors.New("no room in time"), now)
	case c.playing.left > 0:
		l.forsake(c, errors.New("a game did not start in time"), now)
	default:
		l.forsake(c, errors.New("a game did not end in time"), now)
	}
}

// forsake makes a client start again over another connection. Everything owed to it is lost.
func (l *loop) forsake(c *client, reason error, now time.Duration) {
	if c.state == member {
		if r := c.playing.room; r != nil {
			c.place.End()
			l.vacate(c, r)
		}
		c.askLeft()
		l.uncount(c)
	}
	l.setback(c, reason, now)
}
