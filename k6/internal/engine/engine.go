// Package engine plays the clients of one generator process. Groups are dealt to event loops. A loop owns its groups'
// clients, sockets, ledger and histograms, so no message takes a lock. The engine follows the schedule and reports.
package engine

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/pushbench/pushbench/k6/internal/declared"
	"github.com/pushbench/pushbench/k6/internal/ledger"
	"github.com/pushbench/pushbench/k6/internal/protocol"
	"github.com/pushbench/pushbench/k6/internal/schedule"
)

// How long a client waits. A slower server is counted as a failure and not waited for.
const (
	connectTimeout = 10 * time.Second
	retryPause     = time.Second
	closeTimeout   = time.Second
)

// Config describes the load to play.
type Config struct {
	URL string
	// Authorities is a file of the only certificates that are trusted: see protocol.Secured.
	Authorities string
	// Protocol is the name of a built-in protocol. If there is a Declaration, it is played instead.
	Protocol    string
	Declaration *declared.Declaration
	Seed        uint64
	Schedule    schedule.Schedule
	// Groups are the groups of each stage.
	Groups []schedule.Groups
	// Segment is this generator's part of the clients, such as 0:1/2. Both 0:1 and an empty string mean all of them.
	Segment string
	// Sources are the addresses that the clients connect from, round-robin. If empty, the kernel chooses.
	Sources []netip.Addr
	// Spin is how long before something is due a loop stops sleeping and polls the kernel, so that it acts in time. It
	// adds to the lead, which the loop adapts. It is meant for processors that no other process needs.
	Spin time.Duration
	// Loops is the number of event loops; 0 means one for every two CPUs that the process may use. One loop handles well
	// over 100,000 deliveries/s, and fewer, fuller loops cost less: two instead of one cost up to a fifth more CPU per
	// delivery.
	Loops int
	// Backoff is how long clients pause before they reconnect after an outage. The zero value means schedule.Reconnecting.
	Backoff schedule.Backoff
	// Headline is the kind of latency that the timeline shows. An empty string means each receipt, or the first one of a
	// request.
	Headline string
	// Limits are those whose exceeding Events counts in each second.
	Limits []Limit
	// Events receives the progress as JSON lines; nil for none.
	Events io.Writer
	// Meters are the addresses at which meters report their time, from which Events states the clocks' differences.
	Meters []string
	// OnSecond is called with the counts of each second; nil for no call.
	OnSecond func(Second)
}

// Engine plays one load once: New, Play, then Report.
type Engine struct {
	config   Config
	protocol protocol.Protocol
	target   *url.URL
	address  netip.AddrPort // the target's address
	windows  []schedule.Window
	outages  []*outage
	end      time.Duration
	phases   uint64           // the seed of this generator's phases
	part     int              // the part of the load that this generator plays, from 0
	polls    schedule.Pattern // when members ask for news; the zero value if they do not
	origin   time.Time

	loops       []*loop
	collector   *collector
	populations []*population

	finished     chan struct{}
	firstCorrupt sync.Once
}

// New checks the configuration and makes an engine for it.
func New(config Config) (*Engine, error) {
	populations, err := config.Schedule.Populations(config.Groups)
	if err != nil {
		return nil, err
	}
	found, err := protocolOf(config)
	if err != nil {
		return nil, err
	}
	if err := checkExchanges(found, config.Groups); err != nil {
		return nil, err
	}
	if (found.Requests() || found.Matched) && len(config.Schedule.Outages()) > 0 {
		return nil, fmt.Errorf("protocol %s: nothing tells when its clients are back after an outage", config.Protocol)
	}
	target, err := found.Target(config.URL)
	if err != nil {
		return nil, err
	}
	if found, err = found.Secured(target, config.Authorities); err != nil {
		return nil, err
	}
	address, err := resolve(target)
	if err != nil {
		return nil, err
	}
	if config.Loops == 0 {
		config.Loops = max(1, runtime.NumCPU()/2)
	}
	if config.Backoff == (schedule.Backoff{}) {
		config.Backoff = schedule.Reconnecting
	}
	e := &Engine{
		config: config, protocol: found, target: target, address: address, phases: config.Seed,
		windows: config.Schedule.Windows(), end: config.Schedule.End(), finished: make(chan struct{}),
		outages: newOutages(config.Schedule),
	}
	if found.PollPeriod > 0 {
		e.polls = schedule.Pattern{Period: found.PollPeriod, Count: 1}
	}
	e.part = part(config.Segment)
	for i, p := range populations {
		e.populations = append(e.populations, newPopulation(i, p))
	}
	if e.split() {
		h := fnv.New64a()
		_, _ = h.Write([]byte(config.Segment))
		e.phases ^= h.Sum64() // otherwise the generators would send in step
	}
	e.collector = newCollector(e)
	for index := range config.Loops {
		l, err := newLoop(e, index)
		if err != nil {
			return nil, err
		}
		e.loops = append(e.loops, l)
	}
	return e, nil
}

// protocolOf returns the protocol that the clients speak.
func protocolOf(config Config) (protocol.Protocol, error) {
	if config.Declaration == nil {
		return protocol.Find(config.Protocol)
	}
	found, err := protocol.Declare(*config.Declaration)
	if own := part(config.Segment); err == nil && !found.Plays(own) {
		return found, fmt.Errorf("declared protocol: too many generators: ids are exact up to number %d", own)
	}
	return found, err
}

// Play plays the load until it is over or ctx is done, in which case the clients leave at once. Origin is when the
// schedule begins. It needs a monotonic reading, and may lie in the future or a little in the past.
func (e *Engine) Play(ctx context.Context, origin time.Time) {
	defer close(e.finished)
	e.origin = origin
	e.compareClocks()
	e.collector.started()
	for _, l := range e.loops {
		go l.run()
	}
	e.follow(ctx)
	for _, l := range e.loops {
		l.post(l.quit)
	}
	for _, l := range e.loops {
		<-l.ended
	}
	e.collector.close()
}

// terms returns the rules by which members of a group owe each other receipts.
func (e *Engine) terms() ledger.Terms {
	return ledger.Terms{Others: e.protocol.Others, Newest: e.protocol.Newest}
}

// split reports whether other generators play the rest of the clients.
func (e *Engine) split() bool { return e.config.Segment != "" && e.config.Segment != "0:1" }

// now returns the time since the start of the scenario.
func (e *Engine) now() time.Duration { return time.Since(e.origin) }

// follow carries out the schedule: the clients of each population connect, receive messages in flight, and leave.
func (e *Engine) follow(ctx context.Context) {
	for _, p := range e.populations {
		e.tell(func(l *loop) { l.seat(p) })
		e.drain(ctx, p)
		e.tell(func(l *loop) { l.dismiss(p) })
		if ctx.Err() != nil {
			break
		}
	}
	for deadline := e.now() + 2*closeTimeout; e.gauges().Playing > 0 && e.now() < deadline; {
		time.Sleep(5 * time.Millisecond)
	}
}

// tell makes every loop run a function.
func (e *Engine) tell(do func(*loop)) {
	for _, l := range e.loops {
		l.post(func() { do(l) })
	}
}

// drain waits for messages in flight to a population that has stopped sending, for at least schedule.MinimumDrain and
// at most the schedule's drain.
func (e *Engine) drain(ctx context.Context, p *population) {
	e.sleepUntil(ctx, p.End+schedule.MinimumDrain)
	deadline := p.End + e.config.Schedule.Drain()
	for e.now() < deadline && e.outstanding() > 0 && ctx.Err() == nil {
		e.sleepUntil(ctx, e.now()+20*time.Millisecond)
	}
	e.collector.drained()
}

func (e *Engine) outstanding() int64 {
	var sum int64
	for _, l := range e.loops {
		sum += l.outstanding.Load()
	}
	return sum
}

// sleepUntil reports whether t was reached before ctx was done.
func (e *Engine) sleepUntil(ctx context.Context, t time.Duration) bool {
	select {
	case <-time.After(t - e.now()):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// stageOf returns the stage whose steady window contains t, the account of the outage whose window contains it, or
// ledger.Unmeasured.
func (e *Engine) stageOf(t time.Duration) int {
	for _, o := range e.outages {
		if t >= o.Begin && t < o.End {
			return o.account
		}
	}
	for i, window := range e.windows {
		if t < window.Begin {
			break
		}
		if t < window.End {
			return i
		}
	}
	return ledger.Unmeasured
}

// upcoming returns the stage whose steady window has not ended at t: ramps belong to the stage they lead to.
func (e *Engine) upcoming(t time.Duration) int {
	for i, window := range e.windows {
		if t < window.End {
			return i
		}
	}
	return len(e.windows) - 1
}
