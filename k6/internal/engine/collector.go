package engine

import (
	"encoding/json"
	"maps"
	"sort"
	"sync"
	"time"

	"github.com/pushbench/pushbench/k6/internal/clock"
	"github.com/pushbench/pushbench/k6/internal/histogram"
)

// Second is the sum over all loops of one second of the load, by the time of arrival.
type Second struct {
	Index          int
	Clients        int64
	Sent, Received int64
	// Owed is the number of receipts that became owed. Those that never arrive are lost.
	Owed int64
	Traffic
	// Own and Each are set for members of groups; First, Last and Gap for clients with requests of their own. The others
	// are nil.
	Own, Each, First, Last, Gap *histogram.Histogram

	end time.Duration
}

func newSecond(start time.Duration, requests bool) *Second {
	s := &Second{Index: int(start / time.Second), end: start + time.Second}
	if requests {
		s.First, s.Last, s.Gap = histogram.New(), histogram.New(), histogram.New()
	} else {
		s.Own, s.Each = histogram.New(), histogram.New()
	}
	return s
}

// Latencies returns the histograms by kind.
func (s *Second) Latencies() map[string]*histogram.Histogram {
	all := map[string]*histogram.Histogram{
		"own": s.Own, "each": s.Each, "first": s.First, "last": s.Last, "gap": s.Gap,
	}
	maps.DeleteFunc(all, func(_ string, h *histogram.Histogram) bool { return h == nil })
	return all
}

// Limit is a limit for a kind of latency.
type Limit struct {
	Latency string `json:"latency"`
	US      int64  `json:"us"`
}

// Exceeded is how many of a second's latencies exceeded a limit.
type Exceeded struct {
	Late int64 `json:"late"`
	Of   int64 `json:"of"`
}

// exceeded returns the count of each limit. Counts of several seconds and generators add up, and quantiles do not.
func (s *Second) exceeded(limits []Limit) []Exceeded {
	found := make([]Exceeded, len(limits))
	for i, limit := range limits {
		if h := s.Latencies()[limit.Latency]; h != nil {
			found[i] = Exceeded{h.CountAbove(time.Duration(limit.US) * time.Microsecond), h.Count()}
		}
	}
	return found
}

// headline returns the kind of latency that the timeline shows.
func (e *Engine) headline() string {
	switch {
	case e.config.Headline != "":
		return e.config.Headline
	case e.protocol.Requests():
		return "first"
	default:
		return "each"
	}
}

// Bounds of the table of complaints, because their texts may come from the server.
const (
	maxReasons   = 40
	maxReasonLen = 200
)

// collector collects the loops' counts once a second, announces them, and keeps the timeline.
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

// started announces the steady windows in the machine's monotonic time, so that other processes can measure the same
// windows.
func (c *collector) started() {
	origin := clock.Monotonic() - c.engine.now().Microseconds()
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
	c.announce(map[string]any{"event": "drained", "at": clock.Monotonic()})
}

// announce writes one event. The load continues even if the listener has gone.
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

// close waits until every second is handled.
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
			sum.Received += part.Received
			sum.Owed += part.Owed
			sum.Traffic.add(part.Traffic)
			own := part.Latencies()
			for kind, histogram := range sum.Latencies() {
				histogram.Add(own[kind])
			}
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
	second.Clients = c.engine.gauges().Members
	c.announce(c.eventOf(second))
	if c.engine.config.OnSecond != nil {
		c.engine.config.OnSecond(*second)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timeline.add(second, c.engine.headline())
}

// eventOf returns the event that reports a second. A second without a latency has no p95; it is not 0.
func (c *collector) eventOf(second *Second) map[string]any {
	event := map[string]any{
		"event": "second", "at": clock.Monotonic(), "second": second.Index, "clients": second.Clients,
		"sent": second.Sent, "received": second.Received, "owed": second.Owed, "cpu_us": clock.CPU(),
	}
	if latency := second.Latencies()[c.engine.headline()]; latency != nil && latency.Count() > 0 {
		event["p95_us"] = latency.Quantile(95).Microseconds()
	}
	if limits := c.engine.config.Limits; len(limits) > 0 {
		event["exceeded"] = second.exceeded(limits)
	}
	return event
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

// lack counts a connection that failed because this machine lacked something.
func (c *collector) lack(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shortages[what]++
}

// AtMonotonic returns the time at which CLOCK_MONOTONIC reads this many microseconds.
func AtMonotonic(microseconds int64) time.Time {
	return time.Now().Add(time.Duration(microseconds-clock.Monotonic()) * time.Microsecond)
}
