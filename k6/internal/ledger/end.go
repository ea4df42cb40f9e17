package ledger

import "slices"

// End ends a membership when no message can be in flight any more. Everything still owed to the member is lost, unlike
// with Leave.
func (m *Member) End() {
	if !m.joined {
		return
	}
	m.Part()
	m.unreceived(func(message message) {
		m.group.ledger.second(message.due()).Lost++
	})
}

// unreceived settles every receipt that is still owed to the member, and calls f with the message.
func (m *Member) unreceived(f func(message)) {
	g := m.group
	word, bit := m.slot/64, uint64(1)<<(m.slot%64)
	for _, sender := range g.members {
		if sender == nil {
			continue
		}
		for i := range sender.sent() {
			message := sender.message(i)
			owed, received := message[header:][:len(g.present)], message[header+len(g.present):]
			if owed[word]&bit != 0 && received[word]&bit == 0 {
				owed[word] &^= bit
				message.settle()
				g.ledger.outstanding--
				f(message)
			}
		}
	}
}

// End ends the membership of all, and forgets the group.
func (g *Group) End() {
	for _, member := range g.members {
		if member != nil {
			member.End()
		}
	}
	if at := slices.Index(g.ledger.groups, g); at >= 0 {
		g.ledger.groups = slices.Delete(g.ledger.groups, at, at+1)
	}
}
