package ledger

// Terms define what members of a group owe each other. The zero value owes every message to every member.
type Terms struct {
	// Others owes a message to all members but its sender.
	Others bool
	// Newest says that members want only the newest message of each sender: a message that a member receives supersedes
	// earlier ones that it has not received.
	Newest bool
}

// owedTo is the number of members to whom a message is owed that the member sends now.
func (m *Member) owedTo() int {
	if m.group.terms.Others && m.joined {
		return m.group.count - 1
	}
	return m.group.count
}

// supersede settles the sender's messages from one up to another that the member received. They count as duplicates if
// they come after it.
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
