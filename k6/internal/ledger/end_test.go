package ledger

import (
	"testing"
	"time"
)

func TestWhatIsStillOwedAtTheEndOfAMembershipIsLost(t *testing.T) {
	l, m := group(3)
	seq := m[0].Send(time.Second, 0)
	m[0].Receive(0, seq, time.Second)
	m[1].End()
	m[1].End() // the second time changes nothing
	if got := l.Stage(0); got.Expected != 3 || got.Lost() != 2 || l.Outstanding() != 1 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	m[2].Receive(0, seq, time.Second)
	after := m[0].Send(2*time.Second, 0)
	if got := m[2].Receive(0, after, 2*time.Second); got.Outcome != Received {
		t.Errorf("%+v", got)
	}
	if got := l.Stage(0); got.Expected != 5 || got.Lost() != 2 || l.Outstanding() != 1 {
		t.Errorf("%+v, outstanding %d: nothing is owed to a member after its end", got, l.Outstanding())
	}
}

func TestTheEndOfAGroupIsForgottenWithItsLosses(t *testing.T) {
	l, m := group(2)
	m[0].Send(time.Second, 0)
	m[1].group.End()
	other := l.NewGroup(1, Terms{}).Place(0)
	other.Join()
	other.Send(2*time.Second, 0)
	want := []Owing{{}, {Expected: 2, Lost: 2}, {Expected: 1, Lost: 1}}
	for second, owing := range l.Seconds() {
		if owing != want[second] {
			t.Errorf("second %d: %+v, expected %+v", second, owing, want[second])
		}
	}
	if got := l.Stage(0); got.Lost() != 3 || l.Outstanding() != 1 || len(l.groups) != 1 {
		t.Errorf("%+v, outstanding %d, %d groups", got, l.Outstanding(), len(l.groups))
	}
	m[0].Unsent(3*time.Second, 0) // from a client that the server had already lost
	if got := l.Stage(0); got.Expected != 3 || got.Unsent != 1 {
		t.Errorf("%+v: nobody is owed anything of a group that has ended", got)
	}
}
