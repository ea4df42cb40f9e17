package ledger

import "testing"

// positions returns a ledger and the members of a group, all of whom have joined and are owed only each other's newest
// message.
func positions(size int) (*Ledger, []*Member) {
	l := New(1)
	g := l.NewGroup(size, Terms{Others: true, Newest: true})
	members := make([]*Member, size)
	for slot := range members {
		members[slot] = g.Place(slot)
		members[slot].Join()
	}
	return l, members
}

func TestAMessageToTheOthersIsNotOwedToItsSender(t *testing.T) {
	l, m := positions(3)
	seq := m[0].Send(1, 0)
	if got := m[0].Receive(0, seq, 1).Outcome; got != Ineligible {
		t.Errorf("back at its sender: %v", got)
	}
	m[1].Receive(0, seq, 1)
	if got := m[2].Receive(0, seq, 1); got.Outcome != Received || !got.Complete {
		t.Errorf("the last of the others: %+v", got)
	}
	m[0].Unsent(2, 0)
	if got := l.Stage(0); got.Expected != 4 || got.Received != 2 || got.Lost() != 2 || l.Outstanding() != 0 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	if seconds := l.Seconds(); seconds[0] != (Owing{Expected: 4, Lost: 2}) {
		t.Errorf("%+v", seconds)
	}
}

func TestAClientThatIsNoMemberOwesItsMessagesToAllMembers(t *testing.T) {
	l := New(1)
	g := l.NewGroup(2, Terms{Others: true})
	stranger, member := g.Place(0), g.Place(1)
	member.Join()
	stranger.Send(1, 0)
	if got := l.Stage(0); got.Expected != 1 || l.Outstanding() != 1 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
}

func TestANewerMessageSupersedesThoseBeforeItForItsReceiver(t *testing.T) {
	l, m := positions(3)
	first, second, third := m[0].Send(1, 0), m[0].Send(2, 0), m[0].Send(3, 0)
	m[1].Receive(0, first, 1)
	m[1].Receive(0, third, 3)
	if got := l.Stage(0); got.Superseded != 1 || got.Received != 2 || got.Lost() != 3 {
		t.Errorf("%+v: the second is superseded for one member, and nothing for the other", got)
	}
	if got := m[1].Receive(0, second, 2).Outcome; got != Duplicate {
		t.Errorf("a superseded message after all: %v", got)
	}
	if got := m[2].Receive(0, third, 3); got.Outcome != Received || !got.Complete {
		t.Errorf("the newest alone: %+v", got)
	}
	if got := l.Stage(0); got.Superseded != 3 || got.Lost() != 0 || got.OutOfOrder != 0 || l.Outstanding() != 0 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	if seconds := l.Seconds(); seconds[0].Lost != 0 {
		t.Errorf("%+v: what is superseded is not lost", seconds)
	}
}

func TestWhatWasNotOwedIsNotSuperseded(t *testing.T) {
	l := New(1)
	g := l.NewGroup(2, Terms{Others: true, Newest: true})
	early, late := g.Place(0), g.Place(1)
	early.Join()
	early.Send(1, 0)
	late.Join()
	late.Receive(0, early.Send(2, 0), 2)
	if got := l.Stage(0); got.Expected != 1 || got.Received != 1 || got.Superseded != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTheNewestMessageIsLostWhereItNeverComes(t *testing.T) {
	l, m := positions(2)
	first := m[0].Send(1, 0)
	m[0].Send(2, 0)
	m[1].Receive(0, first, 1)
	l.GiveUp()
	if got := l.Stage(0); got.Lost() != 1 || got.Superseded != 0 {
		t.Errorf("%+v", got)
	}
}
