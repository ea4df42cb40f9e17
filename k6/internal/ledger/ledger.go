// Package ledger accounts for every (message, member) pair: a message sent to a group is owed to each of its members, and
// each pair ends as delivered or lost. Members join when their join was acknowledged and leave when they begin to leave.
// It is pure and not safe for concurrent use; times are durations since the start of the scenario.
package ledger

import "time"

// retention is how long a completed message stays known, so that a late duplicate is still told from a stranger.
const retention = 30 * time.Second

// Counts are the deliveries of the messages that were due in one stage. Lost is what was expected and not delivered.
type Counts struct {
	Due, Sent, Unsent                          int64
	Expected, Delivered, Duplicate, OutOfOrder int64
	Ineligible, Corrupt                        int64
}

// Lost is every expected delivery that has not come.
func (c Counts) Lost() int64 { return c.Expected - c.Delivered }

// Add sums two counts.
func (c *Counts) Add(other Counts) {
	c.Due += other.Due
	c.Sent += other.Sent
	c.Unsent += other.Unsent
	c.Expected += other.Expected
	c.Delivered += other.Delivered
	c.Duplicate += other.Duplicate
	c.OutOfOrder += other.OutOfOrder
	c.Ineligible += other.Ineligible
	c.Corrupt += other.Corrupt
}

// Ledger holds the counts of every stage; messages outside all steady windows are tracked but belong to none.
type Ledger struct {
	stages      []Counts // [0] takes what belongs to no stage
	outstanding int64
}

// Unmeasured is the stage of messages that are due outside every steady window.
const Unmeasured = -1

// New makes a ledger for that many stages.
func New(stages int) *Ledger {
	return &Ledger{stages: make([]Counts, stages+1)}
}

// Stage returns the counts of one stage.
func (l *Ledger) Stage(stage int) Counts { return l.stages[stage+1] }

// Outstanding is how many deliveries of sent messages are still owed, measured or not.
func (l *Ledger) Outstanding() int64 { return l.outstanding }

// Group is a set of clients that receive each other's messages: a board, a room.
type Group struct {
	ledger  *Ledger
	members []*Member // by slot; nil where nobody is
	present []uint64  // bit per slot: joined and not leaving
	count   int
}

// NewGroup makes a group with room for size members.
func (l *Ledger) NewGroup(size int) *Group {
	return &Group{ledger: l, members: make([]*Member, size), present: make([]uint64, (size+63)/64)}
}

// Count is how many members are present.
func (g *Group) Count() int { return g.count }

// Member returns who has the slot; nil when nobody ever had it.
func (g *Group) Member(slot int) *Member {
	if slot < 0 || slot >= len(g.members) {
		return nil
	}
	return g.members[slot]
}

// Member is one client's place in its group and what it sent there.
type Member struct {
	group    *Group
	slot     int
	joined   bool
	messages []message
	pairs    []uint64 // of each message: a bit per slot for owed, then a bit per slot for received
	base     uint32   // sequence number of messages[0]
	trimAt   int
	newest   []uint32 // by sender's slot: 1 + highest sequence number received
}

type message struct {
	due   time.Duration
	owed  int32
	stage int32
}

// Place gives a client a slot of the group that no other client ever had. It is owed nothing until it joins.
func (g *Group) Place(slot int) *Member {
	m := &Member{group: g, slot: slot, newest: make([]uint32, len(g.members)), trimAt: 64}
	g.members[slot] = m
	return m
}

// Join makes the member eligible for every message sent from now on.
func (m *Member) Join() {
	if !m.joined {
		m.joined = true
		m.group.present[m.slot/64] |= 1 << (m.slot % 64)
		m.group.count++
	}
}

// Leave ends membership. What is still on its way to the member is owed no longer: nobody can tell whether it came.
func (m *Member) Leave() {
	if !m.joined {
		return
	}
	m.joined = false
	g := m.group
	g.count--
	word, bit := m.slot/64, uint64(1)<<(m.slot%64)
	g.present[word] &^= bit
	for _, sender := range g.members {
		if sender == nil {
			continue
		}
		width := len(g.present)
		for i := range sender.messages {
			message, pair := &sender.messages[i], sender.pairs[2*width*i:]
			if pair[word]&bit != 0 && pair[width+word]&bit == 0 {
				pair[word] &^= bit
				message.owed--
				g.ledger.outstanding--
				g.ledger.stages[message.stage+1].Expected--
			}
		}
	}
}

// Send books a message that was due then and is being sent now, and returns its sequence number, from 0.
func (m *Member) Send(due time.Duration, stage int) uint32 {
	m.trim(due)
	g := m.group
	seq := m.base + uint32(len(m.messages))
	m.messages = append(m.messages, message{due, int32(g.count), int32(stage)})
	m.pairs = append(m.pairs, g.present...)
	for range g.present {
		m.pairs = append(m.pairs, 0)
	}
	counts := &g.ledger.stages[stage+1]
	counts.Due++
	counts.Sent++
	counts.Expected += int64(g.count)
	g.ledger.outstanding += int64(g.count)
	return seq
}

// Unsent books a message that was due but could not be sent: it is lost to every member.
func (m *Member) Unsent(stage int) {
	counts := &m.group.ledger.stages[stage+1]
	counts.Due++
	counts.Unsent++
	counts.Expected += int64(m.group.count)
}

// trim forgets the oldest messages once all members have them and no duplicate can be expected any more.
func (m *Member) trim(now time.Duration) {
	if len(m.messages) < m.trimAt {
		return
	}
	n := 0
	for n < len(m.messages) && m.messages[n].owed == 0 && m.messages[n].due < now-retention {
		n++
	}
	width := 2 * len(m.group.present)
	m.messages = append(m.messages[:0], m.messages[n:]...)
	m.pairs = append(m.pairs[:0], m.pairs[n*width:]...)
	m.base += uint32(n)
	m.trimAt = max(64, 2*len(m.messages))
}

// Outcome says what a received message was to its receiver.
type Outcome int

// The outcomes of Receive.
const (
	Delivered  Outcome = iota
	Duplicate          // the receiver had it already
	Ineligible         // the receiver was no member when it was sent
	Unknown            // no such message was sent
)

// Receipt is what the ledger knows of a received message.
type Receipt struct {
	Outcome Outcome
	// Due is when the message was due; Stage is the stage it belongs to.
	Due   time.Duration
	Stage int
	// Complete says that this was the last delivery owed.
	Complete bool
}

// Receive books that receiver got the sender's message seq whose content says that it was due then.
func (m *Member) Receive(sender *Member, seq uint32, due time.Duration) Receipt {
	stages := m.group.ledger.stages
	if sender == nil || sender.group != m.group || seq >= sender.base+uint32(len(sender.messages)) {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	if seq < sender.base { // complete and trimmed: everybody who was owed it has it
		stages[0].Duplicate++
		return Receipt{Outcome: Duplicate, Stage: Unmeasured}
	}
	index, width := int(seq-sender.base), len(m.group.present)
	sent, pair := &sender.messages[index], sender.pairs[2*width*index:]
	if sent.due != due {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	counts := &stages[sent.stage+1]
	receipt := Receipt{Due: sent.due, Stage: int(sent.stage)}
	word, bit := m.slot/64, uint64(1)<<(m.slot%64)
	switch {
	case pair[width+word]&bit != 0:
		counts.Duplicate++
		receipt.Outcome = Duplicate
		return receipt
	case pair[word]&bit == 0:
		counts.Ineligible++
		receipt.Outcome = Ineligible
		return receipt
	}
	pair[width+word] |= bit
	counts.Delivered++
	m.group.ledger.outstanding--
	sent.owed--
	receipt.Complete = sent.owed == 0
	if newest := &m.newest[sender.slot]; seq+1 > *newest {
		*newest = seq + 1
	} else {
		counts.OutOfOrder++
	}
	return receipt
}

// Corrupt books a message that arrived with another content than was sent.
func (l *Ledger) Corrupt(stage int) { l.stages[stage+1].Corrupt++ }
