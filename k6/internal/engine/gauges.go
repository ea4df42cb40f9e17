package engine

import "sync/atomic"

// gauges count the clients of a loop. Only the loop changes them; any goroutine may read them.
type gauges struct {
	playing                      atomic.Int64 // clients that came and have not left, members or not
	connected, members, groups   atomic.Int64
	connectFailures, disconnects atomic.Int64
}

func (g *gauges) read() Clients {
	return Clients{
		Playing: g.playing.Load(), Connected: g.connected.Load(), Members: g.members.Load(), Groups: g.groups.Load(),
		ConnectFailures: g.connectFailures.Load(), Disconnects: g.disconnects.Load(),
	}
}

func (c *Clients) add(other Clients) {
	c.Playing += other.Playing
	c.Connected += other.Connected
	c.Members += other.Members
	c.Groups += other.Groups
	c.ConnectFailures += other.ConnectFailures
	c.Disconnects += other.Disconnects
}

// count adds a client to the members.
func (l *loop) count(c *client) {
	if !c.counted {
		c.counted = true
		l.gauges.members.Add(1)
	}
}

// uncount removes a client from the members, if it counts as one.
func (l *loop) uncount(c *client) {
	if c.counted {
		c.counted = false
		l.gauges.members.Add(-1)
	}
}

// census returns the counts at the end of a steady window. A member that has had no connection for longer than the
// pause between two attempts is missing.
func (l *loop) census() Clients {
	clients := l.gauges.read()
	if !l.engine.protocol.Requests() {
		return clients
	}
	for _, c := range l.clients {
		if c.counted && c.state != member && l.edge-c.free > retryPause {
			clients.Members--
		}
	}
	return clients
}

// failed counts a connection or join that failed.
func (l *loop) failed(reason string) {
	l.gauges.connectFailures.Add(1)
	l.engine.collector.complain(reason)
}

// gauges returns the current sums over all loops.
func (e *Engine) gauges() Clients {
	var sum Clients
	for _, l := range e.loops {
		sum.add(l.gauges.read())
	}
	return sum
}

// played returns how many steady windows were played to their end, once the load is over.
func (e *Engine) played() int {
	count := len(e.windows)
	for _, l := range e.loops {
		count = min(count, len(l.ends))
	}
	return count
}

// clients returns the clients at the end of a stage's steady window, and the failures since the end of the previous
// one. Each loop counts its own clients at that border. A goroutine that counted them all would wake up later, in the
// next ramp.
func (e *Engine) clients(stage int) Clients {
	var sum Clients
	for _, l := range e.loops {
		sum.add(l.ends[stage])
		if stage > 0 {
			sum.ConnectFailures -= l.ends[stage-1].ConnectFailures
			sum.Disconnects -= l.ends[stage-1].Disconnects
		}
	}
	return sum
}
