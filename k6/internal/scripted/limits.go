package scripted

import (
	"net"
	"sync/atomic"
	"time"
)

// clock tells when faults begin that have a time.
type clock struct {
	armed atomic.Int64 // UnixNano of Arm; 0 before
}

// Arm starts the clock.
func (c *clock) Arm(at time.Time) { c.armed.Store(at.UnixNano()) }

// sinceArm is the time since Arm, and before all times when it was not called.
func (c *clock) sinceArm() time.Duration {
	armed := c.armed.Load()
	if armed == 0 {
		return -1
	}
	return time.Since(time.Unix(0, armed))
}

// stall holds clients that come while the server is stopped: from that time since Arm, for so long.
func (c *clock) stall(at, length time.Duration) {
	if since := c.sinceArm(); since >= at && since < at+length {
		time.Sleep(at + length - since)
	}
}

// gate is a listener that accepts slowly, or resets what it accepts first.
type gate struct {
	net.Listener
	faults   Faults
	accepted int64
	next     time.Time // when a connection is accepted
}

// Accept is of net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		before := time.Now()
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if time.Since(before) > time.Millisecond { // nobody had waited
			g.next = time.Now()
		}
		g.next = g.next.Add(g.faults.AcceptPause) // not from now: what one pause is too long, the next one is shorter
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
	each time.Duration // that one delivery, or one byte, takes
	work chan task
}

// task is work that waits. How much it is shows when its turn comes: clients may have gone until then.
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
	var free time.Time // when the next one may begin
	for next := range p.work {
		if free.Before(next.since) {
			free = next.since
		}
		free = free.Add(time.Duration(next.units()) * p.each)
		time.Sleep(time.Until(free))
		next.do()
	}
}

// after does the work once all that came before it is done, and its own units have taken their time.
func (p *pace) after(units func() int, do func()) {
	p.work <- task{time.Now(), units, do}
}

// burn uses the CPU for so long.
func burn(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
