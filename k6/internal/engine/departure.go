package engine

// leave ends the membership and begins to close the connection. Once its population is dismissed, everything still owed
// is lost, so the membership then stays.
func (l *loop) leave(c *client) {
	was := c.state
	if was >= leaving {
		return
	}
	if was > absent {
		l.settle(c, min(l.now(), c.population.End))
	}
	switch {
	case c.own != nil:
		l.giveUp(c)
		c.own.End()
	case l.rooms != nil:
		l.exit(c)
	case was == member || was == dropped:
		l.endMembership(c)
	}
	l.uncount(c)
	if was < opening || was == dropped {
		l.close(c)
		return
	}
	c.state = leaving
	l.schedule(c, l.now()+closeTimeout)
	l.payload = l.payload[:0]
	if was == member {
		l.payload = c.session.Leave(l.payload)
	}
	if l.payload = c.session.Close(l.payload); len(l.payload) == 0 {
		l.close(c)
		return
	}
	l.write(c, l.payload)
}

func (l *loop) endMembership(c *client) {
	if !l.over(c.population) {
		l.endMembershipOf(c, c.place.Leave)
	}
}

// endMembershipOf ends a membership by calling end.
func (l *loop) endMembershipOf(c *client, end func()) {
	end()
	c.askLeft()
	if c.group.Count() == 0 {
		l.gauges.groups.Add(-1)
	}
}

// drop records that the connection ended, because of the server or because this machine lacked a resource. A member
// stays one, because it did not begin to leave.
func (l *loop) drop(c *client, reason error) {
	if c.own != nil && c.state == member {
		l.breakOff(c, reason, l.now())
		return
	}
	now := l.now()
	if number := l.engine.outageAt(now); number >= 0 && c.state == member {
		l.part(c, number, reason, now)
		return
	}
	if c.isAway() {
		l.setback(c, reason, now)
		return
	}
	if what, lacks := shortage(reason); lacks {
		l.engine.collector.lack(what)
	} else if c.state < dropped {
		l.gauges.disconnects.Add(1)
		l.engine.collector.complain(reason.Error())
	}
	switch {
	case c.state < member:
		l.retry(c, now)
	case c.state == member:
		l.release(c)
		l.uncount(c)
		c.state = dropped
		l.scheduleNext(c)
	default:
		l.close(c)
	}
}

// close ends the client for good.
func (l *loop) close(c *client) {
	if c.state == closed {
		return
	}
	if c.state > absent {
		l.gauges.playing.Add(-1)
	}
	l.release(c)
	c.state = closed
	l.schedule(c, never)
}
