package engine

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/pushbench/pushbench/k6/internal/schedule"
	"github.com/pushbench/pushbench/k6/internal/wire"
)

// population is the clients of the stages that sit together alike. There is one at a time: before the next one connects, what is
// on its way to this one drains, and its clients leave.
type population struct {
	schedule.Population
	index        int
	turns, seats atomic.Int64
	unfinished   atomic.Int64    // clients that hold a place in a loop
	dismissed    context.Context // done once all loops know that it is over
	dismiss      context.CancelFunc
}

func newPopulation(index int, of schedule.Population) *population {
	p := &population{Population: of, index: index}
	p.dismissed, p.dismiss = context.WithCancel(context.Background())
	return p
}

// arrival is when the next client connects; false when the population has enough. The first clients come as k6 starts them.
func (p *population) arrival() (time.Duration, bool) {
	if p.index == 0 {
		return 0, true
	}
	return p.Arrival(int(p.turns.Add(1) - 1))
}

// Client plays one client of every population, one after the other, until the load is over or ctx is done, in which case the
// client leaves.
func (e *Engine) Client(ctx context.Context) {
	for _, p := range e.populations {
		if at, comes := p.arrival(); comes && e.wait(ctx, p, at) {
			e.gauges.playing.Add(1)
			e.play(ctx, p)
			for e.wait(ctx, p, e.now()+retryPause) { // the server ended the connection before the client was a member
				e.play(ctx, p)
			}
			e.gauges.playing.Add(-1)
		}
		select {
		case <-p.dismissed.Done():
		case <-ctx.Done():
			return
		}
	}
}

// wait sleeps until t and tells whether the population can use a client then.
func (e *Engine) wait(ctx context.Context, p *population, t time.Duration) bool {
	select {
	case <-time.After(t - e.now()):
		return ctx.Err() == nil && e.now() < p.End
	case <-ctx.Done():
	case <-p.dismissed.Done():
	}
	return false
}

// play plays one client until its connection is closed for good.
func (e *Engine) play(ctx context.Context, p *population) {
	number := int(p.seats.Add(1) - 1)
	began, conn, rest := e.connect(ctx, p)
	if conn == nil {
		return
	}
	fd, err := detach(conn)
	if err != nil {
		e.failed(err.Error())
		return
	}
	c := newClient(e, p, number, fd, began)
	l := e.loops[c.group%len(e.loops)]
	p.unfinished.Add(1)
	l.post(func() { l.add(c, rest) })
	select {
	case <-ctx.Done():
		l.post(func() { l.leave(c) })
	case <-c.done:
	case <-l.ended:
	}
	select {
	case <-c.done:
	case <-l.ended:
	}
}

// connect dials until it succeeds, the population stops sending or ctx is done.
func (e *Engine) connect(ctx context.Context, p *population) (began time.Duration, conn *net.TCPConn, rest []byte) {
	for {
		began = e.now()
		attempt, cancel := context.WithTimeout(ctx, connectTimeout)
		stop := context.AfterFunc(p.dismissed, cancel)
		conn, rest, err := wire.Dial(attempt, e.target, e.protocol.Subprotocols)
		stop()
		cancel()
		if err == nil {
			return began, conn, rest
		}
		if ctx.Err() != nil || p.dismissed.Err() != nil {
			return began, nil, nil
		}
		e.failed(reason(err))
		if !e.wait(ctx, p, e.now()+retryPause) {
			return began, nil, nil
		}
	}
}

// dismiss has the population's clients leave. What was not delivered by now is lost.
func (e *Engine) dismiss(p *population) {
	for _, l := range e.loops {
		l.post(func() { l.dismiss(p) })
	}
	p.dismiss() // and not before: no loop may hear of a client of the next population first
	deadline := time.Now().Add(2 * closeTimeout)
	for p.unfinished.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	for _, l := range e.loops {
		l.post(func() { l.forget(p) })
	}
}
