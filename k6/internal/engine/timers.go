package engine

import (
	"container/heap"
	"time"
)

// timers is a heap of clients, ordered by the time at which the loop acts on them.
type timers []*client

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].timer, t[j].timer = i, j
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	c := x.(*client)
	c.timer = len(*t)
	*t = append(*t, c)
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	c := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	c.timer = -1
	return c
}

// schedule makes the loop act on the client at t, or when the client leaves if that is earlier.
func (l *loop) schedule(c *client, t time.Duration) {
	if c.isAway() {
		c.away.step = t
		t = min(t, c.nextMessage())
	}
	if c.state < leaving {
		t = min(t, c.seat.Departure)
	}
	c.at = t
	switch {
	case t == never && c.timer >= 0:
		heap.Remove(&l.timers, c.timer)
	case t == never:
	case c.timer >= 0:
		heap.Fix(&l.timers, c.timer)
	default:
		heap.Push(&l.timers, c)
	}
}
