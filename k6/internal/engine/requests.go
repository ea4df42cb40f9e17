package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// exchangeTimeout is how long a client waits for a complete answer. Receipts that have not arrived by then are lost.
const exchangeTimeout = 30 * time.Second

// pool assigns the due exchanges of all clients together to clients that have none open. The client that has been idle
// longest is next, so that no connection is idle for long.
type pool struct {
	arrivals schedule.Sequence
	until    time.Duration // 0 if each client has a sequence of its own
	idle     []*client
	account  *ledger.Own // exchanges for which no client was idle
}

// openPool begins to assign the exchanges of a population.
func (l *loop) openPool(p *population) {
	pattern := p.Groups.Pattern.Part(len(l.engine.loops))
	arrivals := pattern.Sequence(l.engine.phases, l.index, 0)
	arrivals.SkipTo(p.Ready())
	l.pool = pool{arrivals: arrivals, until: p.End, account: l.ledger.NewOwn()}
}

// due returns when the next exchange is due; never if there is none.
func (p *pool) due() time.Duration {
	if p.until == 0 {
		return never
	}
	if due := p.arrivals.Due(); due < p.until {
		return due
	}
	return never
}

// take returns the client that has been idle for the longest; nil if all are busy.
func (p *pool) take() *client {
	for len(p.idle) > 0 {
		c := p.idle[0]
		p.idle = p.idle[1:]
		if c.state == member && !c.own.Open() {
			return c
		}
	}
	return nil
}

// arrive begins the exchange that is due.
func (l *loop) arrive(now time.Duration) {
	due := l.pool.due()
	l.pool.arrivals.Advance()
	if c := l.pool.take(); c != nil {
		l.request(c, due, now)
		return
	}
	l.pool.account.Unsent(due, l.engine.stageOf(due), l.engine.protocol.Receipts)
}

// request begins an exchange that is due. If the client was busy until later, the delay is not counted as the
// generator's lateness.
func (l *loop) request(c *client, due, now time.Duration) {
	stage := l.engine.stageOf(due)
	c.own.Begin(due, stage, l.engine.protocol.Receipts)
	c.exchanges++
	l.payload = c.session.Message(l.payload[:0], c.exchanges, due)
	l.write(c, l.payload)
	l.second.Sent++
	if stage != ledger.Unmeasured {
		l.stages[stage].lateness.Record(l.now() - max(due, c.free))
	}
	if c.state == member {
		l.schedule(c, now+exchangeTimeout)
	}
}

// idle makes a client without an open exchange wait for its next one.
func (l *loop) idle(c *client, now time.Duration) {
	c.free = now
	pattern := &c.population.Groups.Pattern
	switch {
	case now >= c.population.End:
		l.schedule(c, never)
	case pattern.Rate > 0:
		l.pool.idle = append(l.pool.idle, c)
		l.schedule(c, never)
	case pattern.Closed:
		l.schedule(c, now)
	default:
		l.scheduleNext(c)
	}
}

// actAlone handles the timer of a client with requests of its own.
func (l *loop) actAlone(c *client, now time.Duration) {
	if c.own.Open() {
		l.breakOff(c, errors.New("no complete answer in time"), now)
		return
	}
	due := c.at
	if c.population.Groups.Pattern.Own() {
		c.messages.Advance()
	}
	l.request(c, due, now)
}

// receipt records one receipt of the open exchange.
func (l *loop) receipt(c *client, index int, now time.Duration) {
	got := c.own.Receive(index)
	switch got.Outcome {
	case ledger.Received:
	case ledger.Unknown:
		l.corrupt(c, fmt.Sprintf("part %d of an answer, which nothing owes", index), now)
		return
	default:
		return
	}
	l.second.Received++
	l.passage.arrived++
	before := c.receipt
	c.receipt = now
	if got.First {
		l.second.First.Record(now - got.Due)
	} else {
		l.second.Gap.Record(now - before)
	}
	if got.Complete {
		l.second.Last.Record(now - got.Due)
	}
	if got.Stage == ledger.Unmeasured {
		return
	}
	stage := &l.stages[got.Stage]
	if got.First {
		stage.first.Record(now - got.Due)
	} else {
		stage.gap.Record(now - before)
	}
	if got.Complete {
		stage.last.Record(now - got.Due)
	}
}

// done ends the open exchange.
func (l *loop) done(c *client, event *protocol.Event, now time.Duration) {
	c.own.End()
	c.served++
	if event.Last {
		l.reconnect(c, now)
		return
	}
	l.idle(c, now)
}

// hungUp handles a connection that the server ended, for a client with requests of its own.
func (l *loop) hungUp(c *client, now time.Duration) {
	event := &l.event
	err := c.session.End(event)
	switch {
	case err != nil:
		l.breakOff(c, fmt.Errorf("connection lost: %w", err), now)
	case event.Kind == protocol.Nothing: // the server may end it between two exchanges
		l.reconnect(c, now)
	default:
		event.Last = true
		l.handle(c, event, now)
	}
}

// breakOff ends the open exchange with its receipts so far, and connects again.
func (l *loop) breakOff(c *client, reason error, now time.Duration) {
	if what, lacks := shortage(reason); lacks {
		l.engine.collector.lack(what)
	} else {
		l.gauges.disconnects.Add(1)
		l.engine.collector.complain(reason.Error())
	}
	l.uncount(c)
	l.reconnect(c, now)
}

// reconnect gives a client another connection: at once, or after a pause if the last connection served no exchange. The
// client stays a member meanwhile, until an attempt fails.
func (l *loop) reconnect(c *client, now time.Duration) {
	c.own.End()
	if c.served == 0 {
		l.retry(c, now)
		return
	}
	l.release(c)
	c.state, c.free = waiting, now
	l.connect(c, now)
}

// giveUp records the exchanges that were due while a client had no connection.
func (l *loop) giveUp(c *client) {
	if !c.settled || !c.population.Groups.Pattern.Own() {
		return
	}
	for ; c.messages.Due() < c.population.End; c.messages.Advance() {
		due := c.messages.Due()
		c.own.Unsent(due, l.engine.stageOf(due), l.engine.protocol.Receipts)
	}
}
