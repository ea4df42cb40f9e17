// Package ledger accounts for every (message, member) pair: a message sent to a group is owed to each of its members,
// and each pair ends as received or lost. A client's own exchanges with the server are owed to that client: see Own.
// Members join when their join is acknowledged and leave when they begin to leave. The package is pure and not safe for
// concurrent use; times are durations since the start of the scenario.
package ledger

import (
	"math"
	"slices"
	"sort"
	"time"
)

// retention is how long a completed message is kept, so that a late duplicate is recognised as one.
const retention = 30 * time.Second

// Counts are the receipts of the messages that were due in one stage. Lost counts the expected receipts that did not
// arrive.
type Counts struct {
	Due, Sent, Unsent                         int64
	Expected, Received, Duplicate, OutOfOrder int64
	Ineligible, Corrupt                       int64
	// Superseded are receipts that were owed until the member received a newer message of the same sender: see Terms.
	Superseded int64
}

// Lost returns the number of expected receipts that have not arrived.
func (c Counts) Lost() int64 { return c.Expected - c.Received - c.Superseded }

// Add adds other to the counts.
func (c *Counts) Add(other Counts) {
	c.Due += other.Due
	c.Sent += other.Sent
	c.Unsent += other.Unsent
	c.Expected += other.Expected
	c.Received += other.Received
	c.Duplicate += other.Duplicate
	c.OutOfOrder += other.OutOfOrder
	c.Ineligible += other.Ineligible
	c.Corrupt += other.Corrupt
	c.Superseded += other.Superseded
}

// Owing counts the receipts of messages that were due in one second, measured or not.
type Owing struct {
	Expected, Lost int64 // receipts, as in Counts
}

// Ledger holds the counts of every stage; messages outside all steady windows are tracked but belong to none.
type Ledger struct {
	stages      []Counts // [0] counts what belongs to no stage
	seconds     []Owing  // Lost counts unsent messages and groups that were given up
	groups      []*Group // groups not given up
	owns        []*Own   // accounts not given up
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

// Outstanding returns how many receipts of sent messages are still owed, measured or not.
func (l *Ledger) Outstanding() int64 { return l.outstanding }

// GiveUp stops waiting for owed receipts: they are lost. No member may receive any of them afterwards.
func (l *Ledger) GiveUp() {
	l.seconds = l.Seconds()
	for _, o := range l.owns {
		o.open = false
	}
	l.groups, l.owns = nil, nil
	l.outstanding = 0
}

// Seconds returns the receipts owed for the messages due in each second of the load. It walks over the messages that
// are still kept, which include all unsettled ones.
func (l *Ledger) Seconds() []Owing {
	seconds := slices.Clone(l.seconds)
	for _, o := range l.owns {
		if o.open {
			seconds[secondOf(o.due)].Lost += int64(o.owed - o.came)
		}
	}
	for _, g := range l.groups {
		for _, sender := range g.members {
			if sender == nil {
				continue
			}
			for i := range sender.sent() {
				message := sender.message(i)
				seconds[secondOf(message.due())].Lost += int64(message.owed())
			}
		}
	}
	return seconds
}

// Missing returns the receipts still owed for messages of one stage that were due then or later, and when the last of
// these messages was due. Messages that could not be sent are left out.
func (l *Ledger) Missing(stage int, since time.Duration) (receipts int64, last time.Duration) {
	for _, g := range l.groups {
		for _, sender := range g.members {
			if sender == nil {
				continue
			}
			for i := range sender.sent() {
				message := sender.message(i)
				if message.stage() == stage && message.owed() > 0 && message.due() >= since {
					receipts += int64(message.owed())
					last = max(last, message.due())
				}
			}
		}
	}
	return receipts, last
}

// second makes room for the second in which a message was due.
func (l *Ledger) second(due time.Duration) *Owing {
	second := secondOf(due)
	for second >= len(l.seconds) {
		l.seconds = append(l.seconds, Owing{})
	}
	return &l.seconds[second]
}

func secondOf(due time.Duration) int { return int(due / time.Second) }

// Group is a set of clients that receive each other's messages.
type Group struct {
	ledger  *Ledger
	terms   Terms
	members []*Member // by slot; nil if the slot is empty
	present []uint64  // bit per slot: joined and not leaving
	count   int
}

// Owed returns how many receipts were owed so far, measured or not.
func (l *Ledger) Owed() int64 {
	var owed int64
	for _, counts := range l.stages {
		owed += counts.Expected
	}
	return owed
}

// NewGroup makes a group with room for size members.
func (l *Ledger) NewGroup(size int, terms Terms) *Group {
	g := &Group{ledger: l, terms: terms, members: make([]*Member, size), present: make([]uint64, (size+63)/64)}
	l.groups = append(l.groups, g)
	return g
}

// Count returns how many members are present.
func (g *Group) Count() int { return g.count }

// Member is one client's place in its group and the messages that it sent there.
type Member struct {
	group  *Group
	slot   int
	joined bool
	log    []uint64 // the messages that it sent, one after the other: see message
	base   uint32   // sequence number of the first message in the log
	trimAt int
	past   []stageFrom // stages of the messages before base
	// newest is, by the receiver's slot, 1 + the highest sequence number received from this member. The receivers of a
	// message take turns, so their entries lie together.
	newest []uint32
}

// stageFrom means that the messages from this number on belong to the stage, up to the next entry.
type stageFrom struct {
	seq   uint32
	stage int
}

// message is a sent message in its sender's log: due time, receipts owed and stage, then a bit per slot for owed and a
// bit per slot for received. Stored contiguously, it fits one cache line for groups of up to 192.
type message []uint64

const header = 2

func (m message) due() time.Duration { return time.Duration(m[0]) }
func (m message) stage() int         { return int(int32(m[1] >> 32)) }
func (m message) owed() uint32       { return uint32(m[1]) }
func (m message) settle()            { m[1]-- } // one fewer receipt is owed

// stride returns the length of one message of the group.
func (g *Group) stride() int { return header + 2*len(g.present) }

// sent returns how many messages the log holds.
func (m *Member) sent() int { return len(m.log) / m.group.stride() }

func (m *Member) message(i int) message {
	stride := m.group.stride()
	return m.log[i*stride : (i+1)*stride]
}

// Place gives a client a slot of the group that no other client has had. The client is owed nothing until it joins.
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

// Part ends the membership of a client that lost its connection. Messages sent to it before stay owed.
func (m *Member) Part() {
	if !m.joined {
		return
	}
	m.joined = false
	m.group.count--
	m.group.present[m.slot/64] &^= 1 << (m.slot % 64)
}

// Leave ends a membership. Messages in flight to the member are no longer owed, because their arrival cannot be
// observed.
func (m *Member) Leave() {
	if !m.joined {
		return
	}
	m.Part()
	m.unreceived(func(message message) {
		l := m.group.ledger
		l.stages[message.stage()+1].Expected--
		l.second(message.due()).Expected--
	})
}

// Send records a message that was due then and is being sent now, and returns its sequence number, from 0.
func (m *Member) Send(due time.Duration, stage int) uint32 {
	m.trim(due)
	g := m.group
	seq := m.base + uint32(m.sent())
	owed := m.owedTo()
	m.log = append(m.log, uint64(due), uint64(stage)<<32|uint64(owed))
	m.log = append(m.log, g.present...)
	if g.terms.Others {
		m.log[len(m.log)-len(g.present)+m.slot/64] &^= 1 << (m.slot % 64)
	}
	for range g.present {
		m.log = append(m.log, 0)
	}
	g.ledger.book(due, stage, owed).Sent++
	g.ledger.outstanding += int64(owed)
	return seq
}

// Unsent records a message that was due then but could not be sent: it is lost to every member.
func (m *Member) Unsent(due time.Duration, stage int) {
	l, owed := m.group.ledger, m.owedTo()
	l.book(due, stage, owed).Unsent++
	l.second(due).Lost += int64(owed)
}

// trim drops the oldest messages once all members have received them and no duplicate can be expected any more.
func (m *Member) trim(now time.Duration) {
	held := m.sent()
	if held < m.trimAt {
		return
	}
	n := 0
	for n < held && m.message(n).owed() == 0 && m.message(n).due() < now-retention {
		stage := m.message(n).stage()
		if last := len(m.past) - 1; last < 0 || m.past[last].stage != stage {
			m.past = append(m.past, stageFrom{m.base + uint32(n), stage})
		}
		n++
	}
	m.log = append(m.log[:0], m.log[n*m.group.stride():]...)
	m.base += uint32(n)
	m.trimAt = max(64, 2*(held-n))
}

// pastStage returns the stage of a message that was trimmed.
func (m *Member) pastStage(seq uint32) int {
	after := sort.Search(len(m.past), func(i int) bool { return m.past[i].seq > seq })
	return m.past[after-1].stage
}

// Outcome classifies a received message for its receiver.
type Outcome int

// The outcomes of Receive.
const (
	Received   Outcome = iota
	Duplicate          // the receiver already had it
	Ineligible         // the receiver was not a member when it was sent
	Unknown            // no such message was sent
)

// Receipt is the ledger's result for a received message.
type Receipt struct {
	Outcome Outcome
	// Due is when the message was due; Stage is the stage it belongs to.
	Due   time.Duration
	Stage int
	// First means that this was the first receipt of an Own exchange, Complete that it was the last one owed.
	First, Complete bool
}

// Undated stands for the due time of a message whose content does not state one.
const Undated time.Duration = math.MinInt64

// Receive records that the member got message seq of the client in that slot of its group. The content of the message
// says that it was due then, or due is Undated.
func (m *Member) Receive(slot int, seq uint32, due time.Duration) Receipt {
	g := m.group
	if slot < 0 || slot >= len(g.members) || g.members[slot] == nil {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	sender := g.members[slot]
	if seq < sender.base { // complete and trimmed: every member that was owed it has it
		stage := sender.pastStage(seq)
		g.ledger.stages[stage+1].Duplicate++
		return Receipt{Outcome: Duplicate, Stage: stage}
	}
	index := int(seq - sender.base)
	if index >= sender.sent() {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	sent := sender.message(index)
	if due != Undated && due != sent.due() {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	receipt := Receipt{Due: sent.due(), Stage: sent.stage()}
	counts := &g.ledger.stages[receipt.Stage+1]
	word, bit := m.slot/64, uint64(1)<<(m.slot%64)
	owed, received := &sent[header+word], &sent[header+len(g.present)+word]
	switch {
	case *received&bit != 0:
		counts.Duplicate++
		receipt.Outcome = Duplicate
		return receipt
	case *owed&bit == 0:
		counts.Ineligible++
		receipt.Outcome = Ineligible
		return receipt
	}
	*received |= bit
	counts.Received++
	g.ledger.outstanding--
	sent.settle()
	receipt.Complete = sent.owed() == 0
	if newest := &sender.newest[m.slot]; seq+1 > *newest {
		if g.terms.Newest {
			m.supersede(sender, *newest, seq)
		}
		*newest = seq + 1
	} else {
		counts.OutOfOrder++
	}
	return receipt
}

// Corrupt records a message that arrived with wrong content.
func (l *Ledger) Corrupt(stage int) { l.stages[stage+1].Corrupt++ }
