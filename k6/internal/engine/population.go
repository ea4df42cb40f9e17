package engine

import (
	"strconv"
	"strings"

	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// population is the clients of consecutive stages with the same groups. There is one at a time: before the next one
// connects, the messages in flight to this one drain and its clients leave.
type population struct {
	schedule.Population
	index int
	seats []schedule.Seat
}

func newPopulation(index int, of schedule.Population) *population {
	return &population{of, index, of.Seats()}
}

// seat makes the loop's clients of the population. Each connects when it is due.
func (l *loop) seat(p *population) {
	groups := map[int]*ledger.Group{}
	for number, seat := range p.seats {
		groupNumber := number / p.Groups.Size
		if groupNumber%len(l.engine.loops) != l.index {
			continue
		}
		if groups[groupNumber] == nil && !l.engine.protocol.Requests() && l.rooms == nil {
			groups[groupNumber] = l.ledger.NewGroup(p.Groups.Size, l.engine.terms())
			l.groups = append(l.groups, groups[groupNumber])
		}
		c := newClient(l.engine, p, seat, number, groups[groupNumber])
		if l.engine.protocol.Requests() {
			c.own = l.ledger.NewOwn()
		}
		c.asks = l.newAsks(p, c.groupNumber, c.slot)
		l.clients = append(l.clients, c)
		l.schedule(c, seat.Arrival)
	}
	if p.Groups.Pattern.Rate > 0 {
		l.openPool(p)
	}
}

// dismiss makes every client of the population leave. Everything not received by now is lost.
func (l *loop) dismiss(p *population) {
	l.dismissed = p.index + 1
	for _, c := range l.clients {
		l.leave(c)
	}
	for _, group := range l.groups {
		if group.Count() > 0 {
			l.gauges.groups.Add(-1)
		}
	}
	l.clients, l.groups = nil, nil
	l.abandonRooms()
	l.settleStorms(p)
	l.ledger.GiveUp()
	for _, line := range l.sidelines {
		line.ledger.GiveUp()
	}
}

// over reports whether the population is dismissed.
func (l *loop) over(p *population) bool { return p.index < l.dismissed }

// groupName returns a name that is unique over all populations and generators of a load.
func (e *Engine) groupName(p *population, number int) string {
	name := "b-" + strconv.Itoa(number)
	if p.index > 0 {
		name += "-p" + strconv.Itoa(p.index)
	}
	if !e.split() {
		return name
	}
	return name + "-" + strings.NewReplacer("/", "_", ":", "-").Replace(e.config.Segment)
}
