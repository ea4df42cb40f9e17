package engine

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

// state is how far a client has come. The order matters: but for one that tries again, a client only moves forward.
type state int

const (
	absent     state = iota // not due to connect yet
	waiting                 // for the next attempt to connect
	connecting              // the kernel makes the connection
	shaking                 // sent the opening handshake
	opening                 // connected, the conversation is not open yet
	joining                 // asked for membership
	member                  // receives the group's messages
	dropped                 // the server ended the connection; what is sent to the group is lost to it
	leaving                 // said good-bye, waits for the server's close
	closed
)

// backlogLimit is how much a client holds for a server that does not read before it counts messages as unsent.
const backlogLimit = 1 << 20

// client is one simulated user. It belongs to its loop: no other goroutine touches it.
type client struct {
	population *population
	seat       schedule.Seat
	number     int // in its population
	board      int // number of its group
	slot       int // in its group
	group      *ledger.Group
	place      *ledger.Member
	settled    bool // how long it took to connect is booked
	messages   schedule.Sequence

	fd        int
	state     state
	deadline  time.Duration // of the attempt to connect
	handshake *wire.Handshake
	session   protocol.Session

	at    time.Duration // when the loop has to look at it again
	timer int           // index in the loop's heap; -1 when it is not there

	partial []byte       // of a frame, or of the answer to the opening handshake
	message wire.Message // of frames
	backlog []byte       // not yet accepted by the kernel
}

func newClient(e *Engine, p *population, seat schedule.Seat, number int, group *ledger.Group) *client {
	size := p.Groups.Size
	c := &client{
		population: p, seat: seat, number: number, board: number / size, slot: number % size, group: group, fd: -1, timer: -1,
	}
	c.place = group.Place(c.slot)
	c.messages = p.Groups.Pattern.Sequence(e.phases, c.board, c.slot)
	return c
}

// sender returns what a session calls to write to its server.
func (l *loop) sender(c *client) protocol.Send {
	return func(payload []byte) { l.write(c, wire.Text, payload) }
}

func (l *loop) join(c *client, now time.Duration) {
	c.state = joining
	c.session.Join(l.sender(c))
	l.schedule(c, min(now+retryPause, c.deadline))
}

func (l *loop) joined(c *client, now time.Duration) {
	c.state = member
	if c.group.Count() == 0 {
		l.engine.gauges.groups.Add(1)
	}
	c.place.Join()
	l.engine.gauges.members.Add(1)
	l.settle(c, now)
	c.messages.SkipTo(now)
	l.scheduleNext(c)
}

func (l *loop) scheduleNext(c *client) {
	due := c.messages.Due()
	if !c.population.Groups.Pattern.Sends(c.slot) || due >= c.population.End {
		due = never
	}
	l.schedule(c, due)
}

// act does what the client's timer was set for.
func (l *loop) act(c *client, now time.Duration) {
	if c.at == c.seat.Departure && c.state < leaving {
		l.leave(c)
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
		l.sendMessage(c)
	case dropped:
		c.place.Unsent(c.at, l.engine.stageOf(c.at))
		c.messages.Advance()
		l.scheduleNext(c)
	case leaving:
		l.close(c)
	case closed:
	}
}

func (l *loop) sendMessage(c *client) {
	due := c.at
	stage := l.engine.stageOf(due)
	c.messages.Advance()
	if len(c.backlog) > backlogLimit {
		c.place.Unsent(due, stage)
		l.scheduleNext(c)
		return
	}
	seq := c.place.Send(due, stage)
	l.payload = c.session.Message(l.payload[:0], seq, due)
	l.write(c, wire.Text, l.payload)
	l.second.Sent++
	if stage != ledger.Unmeasured {
		l.stages[stage].lateness.Record(l.now() - due)
	}
	if c.state == member {
		l.scheduleNext(c)
	}
}

// handle does what a session understood.
func (l *loop) handle(c *client, event protocol.Event, now time.Duration) {
	switch event.Kind {
	case protocol.Delivery:
		l.deliver(c, event, now)
	case protocol.Ready:
		if c.state == opening {
			l.join(c, now)
		}
	case protocol.Joined:
		if c.state == joining {
			l.joined(c, now)
		}
	case protocol.Corrupt:
		l.corrupt(c, event.Reason, now)
	case protocol.Refused:
		l.engine.collector.complain("error frame: " + event.Reason)
	case protocol.Nothing:
	}
}

// corrupt counts a delivery that nobody sent so, and describes the first of all.
func (l *loop) corrupt(c *client, what string, now time.Duration) {
	l.ledger.Corrupt(l.engine.stageOf(now))
	l.engine.firstCorrupt.Do(func() {
		board := l.engine.groupName(c.population, c.board)
		l.engine.collector.complain(fmt.Sprintf("first corrupt delivery: client %d of %s received %s", c.number, board, what))
	})
}

func (l *loop) deliver(c *client, event protocol.Event, now time.Duration) {
	slot := event.Sender - c.number + c.slot
	receipt := c.place.Receive(slot, event.Seq, event.SentAt)
	switch receipt.Outcome {
	case ledger.Delivered:
	case ledger.Unknown:
		l.corrupt(c, fmt.Sprintf("message %d of client %d, which was not sent", event.Seq, event.Sender), now)
		return
	default:
		return
	}
	latency := now - receipt.Due
	own := slot == c.slot
	l.second.Delivered++
	l.passage.arrived++
	l.second.Delivery.Record(latency)
	if own {
		l.second.Echo.Record(latency)
	}
	if receipt.Stage == ledger.Unmeasured {
		return
	}
	stage := &l.stages[receipt.Stage]
	stage.delivery.Record(latency)
	if own {
		stage.echo.Record(latency)
	}
	if receipt.Complete {
		stage.fanout.Record(latency)
	}
}

// frame handles one frame from the server.
func (l *loop) frame(c *client, frame wire.Frame, now time.Duration) {
	switch frame.Opcode {
	case wire.Text, wire.Binary, wire.Continuation:
		payload, complete, err := c.message.Add(frame)
		if err != nil {
			l.drop(c, err.Error())
			return
		}
		if complete && c.state < dropped {
			l.handle(c, c.session.Receive(payload, l.sender(c)), now)
		}
	case wire.Ping:
		l.write(c, wire.Pong, frame.Payload)
	case wire.Close:
		if c.state == leaving {
			l.close(c)
			return
		}
		l.write(c, wire.Close, frame.Payload[:min(2, len(frame.Payload))])
		l.drop(c, "server closed with "+strconv.Itoa(wire.CloseCode(frame.Payload)))
	}
}

// leave ends the membership and says good-bye. Once its population was dismissed what is still owed is lost, so the membership
// then stays.
func (l *loop) leave(c *client) {
	was := c.state
	if was >= leaving {
		return
	}
	if was > absent {
		l.settle(c, min(l.now(), c.population.End))
	}
	if was == member || was == dropped {
		l.endMembership(c)
	}
	if was < opening || was == dropped {
		l.close(c)
		return
	}
	c.state = leaving
	l.schedule(c, l.now()+closeTimeout)
	if was == member {
		l.engine.gauges.members.Add(-1)
		c.session.Leave(l.sender(c))
	}
	l.write(c, wire.Close, []byte{0x03, 0xe8}) // 1000, normal closure
}

func (l *loop) endMembership(c *client) {
	if l.over(c.population) {
		return
	}
	c.place.Leave()
	if c.group.Count() == 0 {
		l.engine.gauges.groups.Add(-1)
	}
}

// drop notes that the server ended the connection. A member stays one: it did not begin to leave.
func (l *loop) drop(c *client, reason string) {
	if c.state < dropped {
		l.engine.gauges.disconnects.Add(1)
		l.engine.collector.complain(reason)
	}
	switch {
	case c.state < member:
		l.retry(c, l.now())
	case c.state == member:
		l.release(c)
		l.engine.gauges.members.Add(-1)
		c.state = dropped
		l.scheduleNext(c)
	default:
		l.close(c)
	}
}

// close ends the client for good.
func (l *loop) close(c *client) {
	if c.state == closed {
		return
	}
	if c.state > absent {
		l.engine.gauges.playing.Add(-1)
	}
	l.release(c)
	c.state = closed
	l.schedule(c, never)
}

// mask is the key of a client frame. It has to be unpredictable only to proxies, of which there are none.
func mask() uint32 { return rand.Uint32() }
