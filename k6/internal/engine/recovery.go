package engine

import (
	"sync/atomic"
	"time"

	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// outage is the loops' common knowledge of one kill. A client that loses its connection between the kill and the end of
// the window is away: it comes back by itself, and what is sent meanwhile is not owed to it.
type outage struct {
	schedule.OutageWindow
	account int          // of the messages that are due in its window, in the ledgers and the latencies
	clients atomic.Int64 // that are away
	back    atomic.Int64 // when the last one came back of those that did; 0 for none
}

// storm is one loop's account of an outage.
type storm struct {
	disconnects, attempts, failed int64
	lateBack                      int64 // clients that came back after the window
	reconnect                     *histogram.Histogram
	away                          *histogram.Histogram
	lost                          int64         // receipts of messages that were due once all clients were back
	lastLost                      time.Duration // when the last message without a receipt was due; 0 for none
}

// absence is the time in which a client is away.
type absence struct {
	number   int // of the outage
	since    time.Duration
	due      time.Duration // when the present attempt to connect was due
	attempts int           // so many have begun
	step     time.Duration // when the pause is over, or the present attempt has to be looked at
}

func newOutages(s schedule.Schedule) []*outage {
	var outages []*outage
	for i, window := range s.Outages() {
		outages = append(outages, &outage{OutageWindow: window, account: len(s.Stages) + i})
	}
	return outages
}

func newStorms(outages []*outage) []storm {
	storms := make([]storm, len(outages))
	for i := range storms {
		storms[i].reconnect, storms[i].away = histogram.New(), histogram.New()
	}
	return storms
}

// accounts is how many there are for messages that are measured: one for each stage, then one for each outage.
func (e *Engine) accounts() int { return len(e.windows) + len(e.outages) }

// outageAt is the number of the outage by which a connection may end at t; -1 for none.
func (e *Engine) outageAt(t time.Duration) int {
	for i, o := range e.outages {
		if t >= o.Kill && t < o.End {
			return i
		}
	}
	return -1
}

// part makes a member come back that lost its connection through an outage.
func (l *loop) part(c *client, number int, reason error, now time.Duration) {
	l.release(c)
	l.uncount(c)
	l.engine.outages[number].clients.Add(1)
	l.storms[number].disconnects++
	l.engine.collector.complain(reason.Error())
	l.endMembershipOf(c, c.place.Part)
	c.away = &absence{number: number, since: now}
	l.backOff(c, now)
}

// backOff makes a client that is away pause before its next attempt.
func (l *loop) backOff(c *client, now time.Duration) {
	c.state = waiting
	key := uint64(c.away.number)<<32 | uint64(c.number)
	c.away.due = now + l.engine.config.Backoff.Pause(l.engine.phases, key, c.away.attempts)
	l.schedule(c, c.away.due)
}

// attempt counts one of a client that is away.
func (l *loop) attempt(c *client) {
	l.storms[c.away.number].attempts++
	c.away.attempts++
}

// returned books that an away client is a member again, or is about to be.
func (l *loop) returned(c *client, now time.Duration) {
	for c.nextMessage() < now {
		l.miss(c)
	}
	o, s := l.engine.outages[c.away.number], &l.storms[c.away.number]
	s.reconnect.Record(now - c.away.due)
	s.away.Record(now - c.away.since)
	if now >= o.End {
		s.lateBack++
	}
	for last := o.back.Load(); int64(now) > last && !o.back.CompareAndSwap(last, int64(now)); {
		last = o.back.Load()
	}
	o.clients.Add(-1)
	c.away = nil
}

// miss books the next message of a client that is away: it is lost to the present members.
func (l *loop) miss(c *client) {
	due := c.nextMessage()
	c.place.Unsent(due, l.engine.stageOf(due))
	c.messages.Advance()
}

// isAway tells whether a client is on its way back from an outage.
func (c *client) isAway() bool { return c.away != nil && c.state < member }

// settleStorms finds the losses of the population's outages, before the ledger forgets them.
func (l *loop) settleStorms(p *population) {
	for i, o := range l.engine.outages {
		if o.Stage < p.First || o.Stage > p.Last {
			continue
		}
		_, l.storms[i].lastLost = l.ledger.Missing(o.account, 0)
		if back := time.Duration(o.back.Load()); back > 0 && o.clients.Load() == 0 {
			l.storms[i].lost, _ = l.ledger.Missing(o.account, back)
		}
	}
}

// OutageReport is the result of a kill. The other counts of the stage exclude its messages.
type OutageReport struct {
	Kill        string `json:"kill"`
	KillUS      int64  `json:"kill_us"` // as planned
	BeginUS     int64  `json:"begin_us"`
	EndUS       int64  `json:"end_us"`
	Disconnects int64  `json:"disconnects"`
	Attempts    int64  `json:"attempts"`
	Failed      int64  `json:"failed"`
	// NotBack are clients that were not members again by the end of the window.
	NotBack int64 `json:"not_back"`
	// BackUS is when the last client was a member again; nil where one never was, or none was away.
	BackUS *int64 `json:"back_us"`
	// LastLostUS is when the last message was due that was sent and is missing somewhere; nil for none.
	LastLostUS *int64 `json:"last_lost_us"`
	// LostAfter are receipts of messages that were due once all clients were back.
	LostAfter int64    `json:"lost_after"`
	Messages  Messages `json:"messages"`
	Receipts  Receipts `json:"receipts"`
	// Reconnect is from the moment at which the attempt that succeeded was due, Away from the end of the connection.
	Reconnect string `json:"reconnect"`
	Away      string `json:"away"`
}

// outageReport is that of a stage; nil where nothing is killed.
func (e *Engine) outageReport(stage int) (*OutageReport, error) {
	for i, o := range e.outages {
		if o.Stage == stage {
			return e.reportOutage(i)
		}
	}
	return nil, nil
}

func (e *Engine) reportOutage(number int) (*OutageReport, error) {
	o := e.outages[number]
	counts := e.counts(o.account)
	report := &OutageReport{
		Kill:   e.config.Schedule.Stages[o.Stage].Outage.Kill,
		KillUS: o.Kill.Microseconds(), BeginUS: o.Begin.Microseconds(), EndUS: o.End.Microseconds(),
		NotBack: o.clients.Load(), Messages: messagesOf(counts), Receipts: receiptsOf(counts),
	}
	sum := newStorms(e.outages)[number]
	for _, l := range e.loops {
		s := l.storms[number]
		report.Disconnects += s.disconnects
		report.Attempts += s.attempts
		report.Failed += s.failed
		report.NotBack += s.lateBack
		report.LostAfter += s.lost
		sum.reconnect.Add(s.reconnect)
		sum.away.Add(s.away)
		sum.lastLost = max(sum.lastLost, s.lastLost)
	}
	if o.clients.Load() == 0 {
		report.BackUS = moment(time.Duration(o.back.Load()))
	}
	report.LastLostUS = moment(sum.lastLost)
	var err error
	if report.Reconnect, err = sum.reconnect.Encode(); err != nil {
		return nil, err
	}
	report.Away, err = sum.away.Encode()
	return report, err
}

// moment is t in microseconds; nil for 0.
func moment(t time.Duration) *int64 {
	if t == 0 {
		return nil
	}
	us := t.Microseconds()
	return &us
}
