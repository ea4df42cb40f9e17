package engine

import "time"

// passage is the traffic of the clients' sockets.
type passage struct {
	Traffic
	arrived int64         // receipts
	spun    time.Duration // time in which a loop polled the kernel without an event
}

func (p *passage) add(other passage) {
	p.Traffic.add(other.Traffic)
	p.arrived += other.arrived
	p.spun += other.spun
}

func (p passage) since(before passage) passage {
	return passage{p.Traffic.since(before.Traffic), p.arrived - before.arrived, p.spun - before.spun}
}

// cross handles the edge. If a second ends at a border, both use the same passage, so that the seconds add up to the
// windows.
func (l *loop) cross() {
	if l.edge == l.border() {
		if begins := len(l.marks)%2 == 0; begins {
			l.late[len(l.marks)/2] = l.awaited
		} else {
			l.ends = append(l.ends, l.census())
		}
		l.marks = append(l.marks, l.passage)
	}
	if l.edge == l.second.end {
		l.endSecond()
	}
	l.edge = min(l.second.end, l.border())
}

// border returns the next beginning or end of a steady window.
func (l *loop) border() time.Duration {
	crossed := len(l.marks)
	if crossed == 2*len(l.engine.windows) {
		return never
	}
	window := l.engine.windows[crossed/2]
	if crossed%2 == 0 {
		return window.Begin
	}
	return window.End
}

// passed returns the traffic in the steady window of the stage.
func (l *loop) passed(stage int) passage { return l.marks[2*stage+1].since(l.marks[2*stage]) }

// endSecond hands the second over and begins the next one.
func (l *loop) endSecond() {
	owed := l.ledger.Owed()
	l.second.Owed = owed - l.owed
	l.owed = owed
	l.second.Traffic = l.passage.since(l.counted).Traffic
	l.counted = l.passage
	l.engine.collector.take(l.second)
	l.second = newSecond(l.second.end, l.engine.protocol.Requests())
}
