package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// state is how far a client has come. The order matters: except for a client that tries again, a client only moves
// forward.
type state int

const (
	absent     state = iota // not due to connect yet
	waiting                 // waits for the next attempt to connect
	connecting              // the kernel makes the connection
	shaking                 // has sent the opening handshake
	opening                 // connected, the conversation is not open yet
	joining                 // has asked for membership
	member                  // receives the group's messages
	dropped                 // the server ended the connection; what is sent to the group is lost to it
	leaving                 // has announced its departure, waits for the server's close
	closed
)

// backlogLimit is how many bytes a client holds for a server that does not read, before it counts messages as unsent.
const backlogLimit = 1 << 20

// client is one simulated user. It belongs to its loop: no other goroutine touches it.
type client struct {
	// What every delivery needs comes first and fits in one cache line: thousands of clients take turns, so none stays in
	// a cache.
	fd      int
	state   state
	session protocol.Session
	place   *ledger.Member
	own     *ledger.Own // the client's own account, instead of a group's
	number  int         // the client's number in its population
	slot    int         // the client's slot in its group or room

	// These fields are used by clients with requests of their own.
	receipt   time.Duration // when the last receipt came
	exchanges uint32        // exchanges begun
	served    uint32        // exchanges that ended on the current connection
	free      time.Duration // since when no exchange is open

	population  *population
	seat        schedule.Seat
	groupNumber int // group number in its population
	group       *ledger.Group
	deadline    time.Duration // deadline of the attempt to connect
	silent      time.Duration // when the server's silence exceeds what it announced; never if it announced nothing
	settled     bool          // the time that it took to connect is recorded
	counted     bool          // counted as a member, also while it reconnects after an orderly end of its connection
	messages    schedule.Sequence
	asks        []ask // in the order of Protocol.Beside; none if the population has none
	polls       schedule.Sequence
	playing     game     // used if the server names the groups
	aside       *aside   // nil if there is no second connection
	away        *absence // nil except in an outage

	at    time.Duration // when the loop has to handle the client again
	timer int           // index in the loop's heap; -1 when it is not there

	backlog []byte // not yet accepted by the kernel
}

func newClient(e *Engine, p *population, seat schedule.Seat, number int, group *ledger.Group) *client {
	size := p.Groups.Size
	c := &client{
		population: p, seat: seat, number: number, groupNumber: number / size, slot: number % size, group: group,
		fd: -1, timer: -1, silent: never, playing: game{limit: never, rests: e.protocol.Matched},
	}
	if group != nil {
		c.place = group.Place(c.slot)
	}
	if p.Groups.Pattern.Own() {
		c.messages = p.Groups.Pattern.Sequence(e.phases, c.groupNumber, c.slot)
	}
	if e.polls.Period > 0 {
		c.polls = e.polls.Sequence(e.phases^pollKey, c.groupNumber, c.slot)
	}
	return c
}

func (l *loop) join(c *client, now time.Duration) {
	c.state = joining
	if l.rooms != nil {
		l.match(c, now)
		return
	}
	l.schedule(c, min(now+retryPause, c.deadline))
	l.payload = c.session.Join(l.payload[:0])
	l.write(c, l.payload)
}

func (l *loop) joined(c *client, now time.Duration) {
	if l.rooms != nil {
		l.entered(c, now)
		return
	}
	c.state = member
	l.count(c)
	if c.away != nil {
		l.returned(c, now)
	}
	if c.own != nil {
		c.served = 0
		if !c.settled && c.population.Groups.Pattern.Own() {
			c.messages.SkipTo(now)
		}
		l.settle(c, now)
		l.idle(c, now)
		return
	}
	if c.group.Count() == 0 {
		l.gauges.groups.Add(1)
	}
	c.place.Join()
	c.askJoined(now)
	l.settle(c, now)
	c.messages.SkipTo(now)
	if l.engine.polls.Period > 0 {
		c.polls.SkipTo(now)
	}
	l.scheduleNext(c)
}

func (l *loop) scheduleNext(c *client) {
	_, asked := c.nextAsk()
	l.schedule(c, min(c.nextMessage(), l.nextPoll(c), asked, c.silent, c.playing.limit))
}

// nextMessage returns when the client's next message is due; never if there is none.
func (c *client) nextMessage() time.Duration {
	due := c.messages.Due()
	if c.playing.rests || !c.population.Groups.Pattern.Sends(c.slot) || due >= c.population.End {
		return never
	}
	return due
}

// act handles the client's timer.
func (l *loop) act(c *client, now time.Duration) {
	if c.at == c.seat.Departure && c.state < leaving {
		l.leave(c)
		return
	}
	if c.isAway() && c.at == c.nextMessage() {
		l.miss(c)
		l.schedule(c, c.away.step)
		return
	}
	switch c.state {
	case absent:
		l.come(c, now)
	case waiting:
		l.connect(c, now)
	case connecting, shaking, opening:
		l.tooSlow(c, now)
	case joining:
		if now >= c.deadline {
			l.tooSlow(c, now)
			return
		}
		l.join(c, now)
	case member:
		if c.own != nil {
			l.actAlone(c, now)
			return
		}
		l.actAsMember(c)
	case dropped:
		if c.at != c.nextMessage() {
			l.sendAsk(c)
			return
		}
		c.place.Unsent(c.at, l.engine.stageOf(c.at))
		c.messages.Advance()
		l.scheduleNext(c)
	case leaving:
		l.close(c)
	case closed:
	}
}

// actAsMember handles the timer of a member.
func (l *loop) actAsMember(c *client) {
	switch c.at {
	case c.silent:
		l.drop(c, errors.New("the server has been silent for longer than it said"))
	case c.playing.limit:
		l.lookAfter(c)
	case c.nextMessage():
		l.sendMessage(c)
	case l.nextPoll(c):
		l.poll(c)
	default:
		l.sendAsk(c)
	}
}

// bear sets how long the server may be silent from now on.
func (l *loop) bear(c *client, patience, now time.Duration) {
	c.silent = now + patience
	if c.state == member {
		l.scheduleNext(c)
	}
}

func (l *loop) sendMessage(c *client) {
	due := c.at
	stage := l.engine.stageOf(due)
	c.messages.Advance()
	if c.held() > backlogLimit {
		c.place.Unsent(due, stage)
		l.scheduleNext(c)
		return
	}
	seq := c.place.Send(due, stage)
	if c.aside != nil {
		l.payload = c.aside.session.Message(l.payload[:0], seq, due)
		l.writeAside(c, l.payload)
	} else {
		l.payload = c.session.Message(l.payload[:0], seq, due)
		l.write(c, l.payload)
	}
	l.second.Sent++
	if stage != ledger.Unmeasured {
		l.stages[stage].lateness.Record(l.now() - due)
	}
	if c.playing.room != nil {
		c.pressed(due)
	}
	if c.state == member {
		l.scheduleNext(c)
	}
}

// handle acts on an event of a session.
func (l *loop) handle(c *client, event *protocol.Event, now time.Duration) {
	if event.Kind == protocol.Closed {
		l.closed(c, event)
		return
	}
	l.write(c, event.Reply)
	if c.state >= dropped {
		return
	}
	if event.Patience > 0 {
		l.bear(c, event.Patience, now)
	}
	switch event.Kind {
	case protocol.Delivery:
		l.deliver(c, event, now)
	case protocol.Opened:
		c.state = opening
		l.gauges.connected.Add(1)
	case protocol.Ready:
		if c.state == opening {
			l.join(c, now)
		}
	case protocol.Joined:
		if c.state == joining || c.own != nil && c.state == opening || l.rooms != nil && c.state == member {
			l.joined(c, now)
		}
	case protocol.Matched, protocol.Denied, protocol.Begun, protocol.Over:
		l.play(c, event, now)
	case protocol.Receipt:
		l.receipt(c, event.Index, now)
	case protocol.Done:
		l.done(c, event, now)
	case protocol.Answer:
		l.answered(c, event, now)
	case protocol.Corrupt:
		l.corrupt(c, event.Reason, now)
	case protocol.Refused:
		l.engine.collector.complain("the server refused: " + event.Reason)
	}
}

func (l *loop) deliver(c *client, event *protocol.Event, now time.Duration) {
	slot := event.Sender - c.number + c.slot
	if l.rooms != nil {
		slot = c.playing.room.slotOf(event.Sender)
	}
	sentAt := event.SentAt
	if event.Undated {
		sentAt = ledger.Undated
	}
	receipt := c.place.Receive(slot, event.Seq, sentAt)
	switch receipt.Outcome {
	case ledger.Received:
	case ledger.Unknown:
		l.corrupt(c, fmt.Sprintf("message %d of client %d, which was not sent", event.Seq, event.Sender), now)
		return
	default:
		return
	}
	latency := now - receipt.Due
	own := slot == c.slot
	l.second.Received++
	l.passage.arrived++
	l.second.Each.Record(latency)
	if own {
		l.second.Own.Record(latency)
	}
	if receipt.Stage == ledger.Unmeasured {
		return
	}
	stage := &l.stages[receipt.Stage]
	stage.each.Record(latency)
	if own {
		stage.own.Record(latency)
	}
	if receipt.Complete {
		stage.last.Record(latency)
	}
}
