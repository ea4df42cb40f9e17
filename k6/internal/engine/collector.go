package engine

import (
	"encoding/json"
	"sort"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pushbench/pushbench/k6/internal/histogram"
)

// Second is what all loops saw in one second of the load, by the time of arrival.
type Second struct {
	Index           int
	Clients         int64
	Sent, Delivered int64
	// Owed is how many deliveries became owed; what is owed and never delivered is lost.
	Owed int64
	Traffic
	Delivery, Echo *histogram.Histogram

	end time.Duration
}

func newSecond(start time.Duration) *Second {
	return &Second{Index: int(start / time.Second), Delivery: histogram.New(), Echo: histogram.New(), end: start + time.Second}
}

// Bounds of the table of complaints, whose texts may come from the server.
const (
	maxReasons   = 40
	maxReasonLen = 200
)

// collector gathers what the loops hand over once a second, tells whoever listens, and keeps the timeline.
type collector struct {
	engine *Engine
	taken  chan *Second
	done   chan struct{}

	mu        sync.Mutex
	timeline  Timeline
	reasons   map[string]int64
	shortages map[string]int64
}

func newCollector(e *Engine) *collector {
	return &collector{
		engine: e, reasons: map[string]int64{}, shortages: map[string]int64{}, done: make(chan struct{}),
		taken: make(chan *Second, 64*e.config.Loops), // a minute of delay before a loop would wait
	}
}

// started announces the steady windows in the machine's monotonic time, so that others can measure the same ones.
func (c *collector) started() {
	origin := monotonic() - c.engine.now().Microseconds()
	type window struct {
		Clients int   `json:"clients"`
		Begin   int64 `json:"begin"`
		End     int64 `json:"end"`
	}
	windows := make([]window, len(c.engine.windows))
	for i, w := range c.engine.windows {
		clients := c.engine.config.Schedule.Stages[i].Clients
		windows[i] = window{clients, origin + w.Begin.Microseconds(), origin + w.End.Microseconds()}
	}
	c.announce(map[string]any{
		"event": "start", "at": origin, "stages": windows, "end_of_load": origin + c.engine.end.Microseconds(),
	})
	go c.run()
}

func (c *collector) drained() {
	c.announce(map[string]any{"event": "drained", "at": monotonic()})
}

// announce writes one event. A listener that went away is no reason to end a load.
func (c *collector) announce(event map[string]any) {
	if c.engine.config.Events == nil {
		return
	}
	line, err := json.Marshal(event)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.engine.config.Events.Write(append(line, '\n'))
}

// take accepts a second from a loop.
func (c *collector) take(second *Second) { c.taken <- second }

// close waits until every second was handled.
func (c *collector) close() {
	close(c.taken)
	<-c.done
}

func (c *collector) run() {
	defer close(c.done)
	open := map[int]*Second{}
	parts := map[int]int{}
	for part := range c.taken {
		sum, ok := open[part.Index]
		if !ok {
			open[part.Index] = part
			sum = part
		} else {
			sum.Sent += part.Sent
			sum.Delivered += part.Delivered
			sum.Owed += part.Owed
			sum.Traffic.add(part.Traffic)
			sum.Delivery.Add(part.Delivery)
			sum.Echo.Add(part.Echo)
		}
		if parts[part.Index]++; parts[part.Index] == c.engine.config.Loops {
			c.complete(sum)
			delete(open, part.Index)
			delete(parts, part.Index)
		}
	}
	rest := make([]*Second, 0, len(open))
	for _, second := range open {
		rest = append(rest, second)
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].Index < rest[j].Index })
	for _, second := range rest {
		c.complete(second)
	}
}

func (c *collector) complete(second *Second) {
	second.Clients = c.engine.gauges.members.Load()
	c.announce(map[string]any{
		"event": "second", "at": monotonic(), "second": second.Index,
		"clients": second.Clients, "sent": second.Sent, "delivered": second.Delivered,
	})
	if c.engine.config.OnSecond != nil {
		c.engine.config.OnSecond(*second)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timeline.add(second)
}

// complain counts a failure by its reason.
func (c *collector) complain(reason string) {
	if len(reason) > maxReasonLen {
		reason = reason[:maxReasonLen]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.reasons[reason]; !known && len(c.reasons) >= maxReasons {
		reason = "other reasons"
	}
	c.reasons[reason]++
}

// lack counts a connection that failed for want of something on this machine.
func (c *collector) lack(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shortages[what]++
}

// monotonic is CLOCK_MONOTONIC in microseconds: the same clock for every process of the machine.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano() / 1000
}

// AtMonotonic is the moment of CLOCK_MONOTONIC, in microseconds.
func AtMonotonic(microseconds int64) time.Time {
	return time.Now().Add(time.Duration(microseconds-monotonic()) * time.Microsecond)
}
