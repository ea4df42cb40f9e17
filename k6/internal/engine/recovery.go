package engine

import (
	"sync/atomic"
	"time"

	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// outage is what the loops share about one kill. A client that loses its connection between the kill and the end of the
// window is away: it reconnects by itself, and what is sent meanwhile is not owed to it.
type outage struct {
	schedule.OutageWindow
	account int          // in the ledgers and latencies: the account of messages due in its window
	clients atomic.Int64 // clients that are away
	back    atomic.Int64 // when the last client came back so far; 0 for none
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
	number   int // number of the outage
	since    time.Duration
	due      time.Duration // when the current attempt to connect was due
	attempts int           // attempts begun
	step     time.Duration // when the pause ends, or the current attempt must be checked
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

// accounts returns the number of accounts for measured messages: one for each stage, then one for each outage.
func (e *Engine) accounts() int { return len(e.windows) + len(e.outages) }

// outageAt returns the number of the outage that may end a connection at t; -1 for none.
func (e *Engine) outageAt(t time.Duration) int {
	for i, o := range e.outages {
		if t >= o.Kill && t < o.End {
			return i
		}
	}
	return -1
}

// part makes a member reconnect that lost its connection through an outage.
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

// attempt counts one attempt to connect of a client that is away.
func (l *loop) attempt(c *client) {
	l.storms[c.away.number].attempts++
	c.away.attempts++
}

// returned records that an away client is a member again, or is about to be.
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

// miss records the next message of a client that is away: it is lost to the present members.
func (l *loop) miss(c *client) {
	due := c.nextMessage()
	c.place.Unsent(due, l.engine.stageOf(due))
	c.messages.Advance()
}

// isAway reports whether a client is on its way back from an outage.
func (c *client) isAway() bool { return c.away != nil && c.state < member }

// settleStorms determines the losses of the population's outages before the ledger drops them.
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

// OutageReport is the result of a kill. The other counts of the stage exclude the messages of its window.
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
	// BackUS is when the last client became a member again; nil if a client never did, or none was away.
	BackUS *int64 `json:"back_us"`
	// LastLostUS is the due time of the last message that was sent but did not reach every member; nil for none.
	LastLostUS *int64 `json:"last_lost_us"`
	// LostAfter counts the lost receipts of messages that were due once all clients were back.
	LostAfter int64    `json:"lost_after"`
	Messages  Messages `json:"messages"`
	Receipts  Receipts `json:"receipts"`
	// Reconnect begins when the attempt that succeeded was due, Away at the end of the connection.
	Reconnect string `json:"reconnect"`
	Away      string `json:"away"`
}

// outageReport returns the report of a stage's outage; nil if nothing is killed.
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

// moment returns t in microseconds; nil for 0.
func moment(t time.Duration) *int64 {
	if t == 0 {
		return nil
	}
	us := t.Microseconds()
	return &us
}
