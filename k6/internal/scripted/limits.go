package scripted

import (
	"net"
	"sync/atomic"
	"time"
)

// clock determines when timed faults begin.
type clock struct {
	armed atomic.Int64 // UnixNano of Arm; 0 before
}

// Arm starts the clock.
func (c *clock) Arm(at time.Time) { c.armed.Store(at.UnixNano()) }

// sinceArm returns the time since Arm. Before Arm it returns a time before all others.
func (c *clock) sinceArm() time.Duration {
	armed := c.armed.Load()
	if armed == 0 {
		return -1
	}
	return time.Since(time.Unix(0, armed))
}

// stall holds clients that arrive while the server is stopped: from that time since Arm, for that long.
func (c *clock) stall(at, length time.Duration) {
	if since := c.sinceArm(); since >= at && since < at+length {
		time.Sleep(at + length - since)
	}
}

// gate is a listener that accepts slowly, or resets the first connections that it accepts.
type gate struct {
	net.Listener
	faults   Faults
	accepted int64
	next     time.Time // when the next connection is accepted
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		before := time.Now()
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if time.Since(before) > time.Millisecond { // no client was waiting
			g.next = time.Now()
		}
		g.next = g.next.Add(g.faults.AcceptPause) // not from now: the next pause makes up for one that is too long
		time.Sleep(time.Until(g.next))
		if g.accepted++; g.accepted > g.faults.ResetFirst {
			return conn, nil
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // close sends RST
		_ = conn.Close()
	}
}

// pace does work at a steady rate, in order: work that arrives faster waits.
type pace struct {
	each time.Duration // the time of one delivery, or of one byte
	work chan task
}

// task is work that waits. Its amount is determined only when its turn comes, because clients may have left by then.
type task struct {
	since time.Time
	units func() int
	do    func()
}

func newPace(capacity int64) *pace {
	if capacity == 0 {
		return nil
	}
	p := &pace{each: time.Second / time.Duration(capacity), work: make(chan task, 1<<16)}
	go p.run()
	return p
}

func (p *pace) run() {
	var free time.Time // when the next task may begin
	for next := range p.work {
		if free.Before(next.since) {
			free = next.since
		}
		free = free.Add(time.Duration(next.units()) * p.each)
		time.Sleep(time.Until(free))
		next.do()
	}
}

// after does the work once everything before it is done and the time of its own units has passed.
func (p *pace) after(units func() int, do func()) {
	p.work <- task{time.Now(), units, do}
}

// burn uses the CPU for that long.
func burn(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
