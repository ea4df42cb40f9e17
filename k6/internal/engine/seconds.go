package engine

import "time"

// cross goes over the edge. Where a second ends at a border both see the same traffic, so that seconds add up to windows.
func (l *loop) cross() {
	if l.edge == l.border() {
		l.marks = append(l.marks, l.traffic)
	}
	if l.edge == l.second.end {
		l.endSecond()
	}
	l.edge = min(l.second.end, l.border())
}

// border is the next beginning or end of a steady window.
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

// trafficOf is what the sockets carried in the steady window of the stage, or in what there was of it.
func (l *loop) trafficOf(stage int) Traffic { return l.mark(2*stage + 1).since(l.mark(2 * stage)) }

func (l *loop) mark(border int) Traffic {
	if border < len(l.marks) {
		return l.marks[border]
	}
	return l.traffic
}

// endSecond hands the second over and begins the next one.
func (l *loop) endSecond() {
	owed := l.ledger.Owed()
	l.second.Owed = owed - l.owed
	l.owed = owed
	l.second.Traffic = l.traffic.since(l.counted)
	l.counted = l.traffic
	l.engine.collector.take(l.second)
	l.second = newSecond(l.second.end)
}
