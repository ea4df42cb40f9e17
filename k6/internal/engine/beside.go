package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pushbench/pushbench/k6/internal/histogram"
	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// sideline is a loop's account of one kind of exchange beside those of the groups. Each exchange owes one receipt to
// the client itself: in the ledger, the client is the only member of a group.
type sideline struct {
	ledger *ledger.Ledger
	own    []*histogram.Histogram // by stage: from when the exchange was due to its receipt
}

// ask is a client's part of a sideline; empty if its population does not have that kind of exchange.
type ask struct {
	place    *ledger.Member
	messages schedule.Sequence
}

// checkExchanges rejects exchanges that the protocol's clients do not support.
func checkExchanges(p protocol.Protocol, groups []schedule.Groups) error {
	known := p.Beside()
	for _, g := range groups {
		if p.Matched && g.Length < 1 {
			return fmt.Errorf("length %d: the games of this protocol have at least 1 character", g.Length)
		}
		if !p.Requests() && !g.Pattern.Own() {
			return errors.New("clients in groups send by a pattern: closed stages and rates are for clients with requests")
		}
		for _, beside := range g.Beside {
			switch {
			case len(known) == 0:
				return fmt.Errorf("exchange %q: the clients of this protocol have none beside their requests",
					beside.Name)
			case !slices.Contains(known, beside.Name):
				return fmt.Errorf("exchange %q: known are %s", beside.Name, strings.Join(known, ", "))
			}
		}
	}
	return nil
}

func newSidelines(kinds, stages int) []sideline {
	lines := make([]sideline, kinds)
	for i := range lines {
		lines[i].ledger = ledger.New(stages)
		for range stages {
			lines[i].own = append(lines[i].own, histogram.New())
		}
	}
	return lines
}

// newAsks makes a client's parts of the sidelines that its population has. Their phases differ from those of its
// messages.
func (l *loop) newAsks(p *population, groupNumber, slot int) []ask {
	if len(p.Groups.Beside) == 0 {
		return nil
	}
	asks := make([]ask, len(l.sidelines))
	for i := range p.Groups.Beside {
		beside := &p.Groups.Beside[i]
		kind := slices.Index(l.engine.protocol.Beside(), beside.Name)
		phases := l.engine.phases ^ uint64(kind+1)<<56
		asks[kind] = ask{
			place:    l.sidelines[kind].ledger.NewGroup(1, ledger.Terms{}).Place(0),
			messages: beside.Pattern.Sequence(phases, groupNumber, slot),
		}
	}
	return asks
}

// due returns when the client's next exchange is due; never if there is none.
func (a *ask) due(end time.Duration) time.Duration {
	if a.place == nil || a.messages.Due() >= end {
		return never
	}
	return a.messages.Due()
}

// askJoined begins the exchanges beside the first for a client that became a member.
func (c *client) askJoined(now time.Duration) {
	for i := range c.asks {
		if a := &c.asks[i]; a.place != nil {
			a.place.Join()
			a.messages.SkipTo(now)
		}
	}
}

// askLeft ends the exchanges beside the first. Answers in flight are no longer owed.
func (c *client) askLeft() {
	for i := range c.asks {
		if a := &c.asks[i]; a.place != nil {
			a.place.Leave()
		}
	}
}

// nextAsk returns the exchange beside the first that is due next, and its due time.
func (c *client) nextAsk() (kind int, due time.Duration) {
	due = never
	for i := range c.asks {
		if at := c.asks[i].due(c.population.End); at < due {
			kind, due = i, at
		}
	}
	return kind, due
}

// sendAsk begins the exchange beside the first that is due. If the connection cannot take it, it is lost.
func (l *loop) sendAsk(c *client) {
	kind, due := c.nextAsk()
	a := &c.asks[kind]
	stage := l.engine.stageOf(due)
	a.messages.Advance()
	if c.state != member || len(c.backlog) > backlogLimit {
		a.place.Unsent(due, stage)
		l.scheduleNext(c)
		return
	}
	seq := a.place.Send(due, stage)
	l.payload = c.session.(protocol.Asker).Ask(l.payload[:0], kind, seq, due)
	l.write(c, l.payload)
	if stage != ledger.Unmeasured {
		l.stages[stage].lateness.Record(l.now() - due)
	}
	if c.state == member {
		l.scheduleNext(c)
	}
}

// answered records the receipt of an exchange beside the first.
func (l *loop) answered(c *client, event *protocol.Event, now time.Duration) {
	if event.Beside >= len(c.asks) || c.asks[event.Beside].place == nil {
		return
	}
	line := &l.sidelines[event.Beside]
	place := c.asks[event.Beside].place
	due := event.SentAt
	if due == 0 {
		due = ledger.Undated
	}
	receipt := place.Receive(0, event.Seq, due)
	switch {
	case receipt.Outcome == ledger.Unknown:
		line.ledger.Corrupt(l.engine.stageOf(now))
		l.describeCorrupt(c, fmt.Sprintf("an answer to %s %d, which was not sent",
			l.engine.protocol.Beside()[event.Beside], event.Seq))
	case receipt.Outcome == ledger.Received && receipt.Stage != ledger.Unmeasured:
		line.own[receipt.Stage].Record(now - receipt.Due)
	}
}

// outstandingBeside returns how many receipts the exchanges beside the first still owe.
func (l *loop) outstandingBeside() int64 {
	var sum int64
	for _, line := range l.sidelines {
		sum += line.ledger.Outstanding()
	}
	return sum
}

// BesideReport is the result of one kind of exchange beside the first.
type BesideReport struct {
	Messages Messages `json:"messages"`
	Receipts Receipts `json:"receipts"`
	Own      string   `json:"own"`
}

// besideReports returns the results of the kinds that the stage has, by name.
func (e *Engine) besideReports(stage int) (map[string]BesideReport, error) {
	reports := map[string]BesideReport{}
	for _, beside := range e.config.Groups[stage].Beside {
		kind := slices.Index(e.protocol.Beside(), beside.Name)
		var counts ledger.Counts
		own := histogram.New()
		for _, l := range e.loops {
			counts.Add(l.sidelines[kind].ledger.Stage(stage))
			own.Add(l.sidelines[kind].own[stage])
		}
		encoded, err := own.Encode()
		if err != nil {
			return nil, err
		}
		reports[beside.Name] = BesideReport{messagesOf(counts), receiptsOf(counts), encoded}
	}
	return reports, nil
}
