package ledger

// Terms define what members of a group owe each other. The zero value owes every message to every member.
type Terms struct {
	// Others means that a message is owed to all members but its sender.
	Others bool
	// Newest means that only the newest message of each sender matters: a message that a member receives supersedes
	// earlier ones that it has not received.
	Newest bool
}

// owedTo returns the number of members who are owed a message that the member sends now.
func (m *Member) owedTo() int {
	if m.group.terms.Others && m.joined {
		return m.group.count - 1
	}
	return m.group.count
}

// supersede settles the sender's messages from `from` up to, but not including, `to`, which the member received. If
// they arrive later, they count as duplicates.
func (m *Member) supersede(sender *Member, from, to uint32) {
	g := m.group
	word, bit := m.slot/64, uint64(1)<<(m.slot%64)
	for seq := max(from, sender.base); seq < to; seq++ {
		message := sender.message(int(seq - sender.base))
		owed, received := message[header+word], &message[header+len(g.present)+word]
		if owed&bit == 0 || *received&bit != 0 {
			continue
		}
		*received |= bit
		message.settle()
		g.ledger.stages[message.stage()+1].Superseded++
		g.ledger.outstanding--
	}
}
