package ledger

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// group returns a ledger of one stage and the members of a group, all of whom have joined.
func group(size int) (*Ledger, []*Member) {
	l := New(1)
	g := l.NewGroup(size, Terms{})
	members := make([]*Member, size)
	for slot := range members {
		members[slot] = g.Place(slot)
		members[slot].Join()
	}
	return l, members
}

func TestEveryPairEndsAsExactlyOneThing(t *testing.T) {
	l, m := group(3)
	seq := m[0].Send(time.Second, 0)
	for receiver, want := range []Outcome{Received, Received, Received} {
		if got := m[receiver].Receive(0, seq, time.Second); got.Outcome != want || got.Complete != (receiver == 2) {
			t.Errorf("receiver %d: %+v", receiver, got)
		}
	}
	if got := m[1].Receive(0, seq, time.Second); got.Outcome != Duplicate {
		t.Errorf("the second time: %+v", got)
	}
	if got := m[1].Receive(0, seq+1, time.Second); got.Outcome != Unknown {
		t.Errorf("a message nobody sent: %+v", got)
	}
	if got := m[1].Receive(0, seq, 2*time.Second); got.Outcome != Unknown {
		t.Errorf("a message with another due time: %+v", got)
	}
	want := Counts{Due: 1, Sent: 1, Expected: 3, Received: 3, Duplicate: 1}
	if got := l.Stage(0); got != want || got.Lost() != 0 || l.Outstanding() != 0 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
}

func TestALateJoinerIsOwedOnlyWhatComesAfter(t *testing.T) {
	l := New(1)
	g := l.NewGroup(2, Terms{})
	early, late := g.Place(0), g.Place(1)
	early.Join()
	before := early.Send(1, 0)
	late.Join()
	after := early.Send(2, 0)
	if got := late.Receive(0, before, 1).Outcome; got != Ineligible {
		t.Errorf("sent before the join: %v", got)
	}
	if got := late.Receive(0, after, 2).Outcome; got != Received {
		t.Errorf("sent after the join: %v", got)
	}
	if got := l.Stage(0); got.Expected != 3 || got.Ineligible != 1 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsOnItsWayToALeaverIsNotLost(t *testing.T) {
	l, m := group(3)
	seq := m[0].Send(1, 0)
	m[1].Receive(0, seq, 1)
	m[2].Leave()
	if got := l.Stage(0); got.Expected != 2 || got.Lost() != 1 || l.Outstanding() != 1 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	if got := m[0].Receive(0, seq, 1); got.Outcome != Received || !got.Complete {
		t.Errorf("the last one that is owed: %+v", got)
	}
	if got := m[2].Receive(0, seq, 1).Outcome; got != Ineligible {
		t.Errorf("received while leaving: %v", got)
	}
}

func TestAnUnsentMessageIsLostToEveryMember(t *testing.T) {
	l, m := group(4)
	m[0].Unsent(2*time.Second, 0)
	if got := l.Stage(0); got.Unsent != 1 || got.Due != 1 || got.Lost() != 4 || l.Outstanding() != 0 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	if got := l.Seconds(); !slices.Equal(got, []Owing{{}, {}, {Expected: 4, Lost: 4}}) {
		t.Errorf("by the second: %+v", got)
	}
}

func TestALossIsOfTheSecondInWhichTheMessageWasDue(t *testing.T) {
	l, m := group(3)
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	for _, due := range []time.Duration{at(500), at(1999), at(2000), at(3500)} {
		seq := m[0].Send(due, 0)
		m[1].Receive(0, seq, due)
		if due != at(2000) {
			m[0].Receive(0, seq, due)
		}
	}
	m[2].Receive(0, 0, at(500))
	want := []Owing{{Expected: 3}, {Expected: 3, Lost: 1}, {Expected: 3, Lost: 2}, {Expected: 3, Lost: 1}}
	if got := l.Seconds(); !slices.Equal(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
	m[2].Leave() // and is no longer owed what it has not received
	want = []Owing{{Expected: 3}, {Expected: 2}, {Expected: 2, Lost: 1}, {Expected: 2}}
	if got := l.Seconds(); !slices.Equal(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

func TestWhatIsGivenUpIsLostAndNotWaitedFor(t *testing.T) {
	l, m := group(2)
	m[0].Send(1, 0)
	l.GiveUp()
	later := l.NewGroup(1, Terms{}).Place(0)
	later.Join()
	seq := later.Send(2, 0)
	if l.Outstanding() != 1 {
		t.Errorf("outstanding %d, expected only what was sent since", l.Outstanding())
	}
	later.Receive(0, seq, 2)
	if got := l.Stage(0); got.Lost() != 2 || got.Expected != 3 || l.Outstanding() != 0 {
		t.Errorf("%+v, outstanding %d", got, l.Outstanding())
	}
	if got := l.Seconds(); !slices.Equal(got, []Owing{{Expected: 3, Lost: 2}}) {
		t.Errorf("by the second: %+v", got)
	}
}

func TestOrderIsPerSenderAndReceiver(t *testing.T) {
	l, m := group(2)
	first, second := m[0].Send(1, 0), m[0].Send(2, 0)
	other := m[1].Send(3, 0)
	m[1].Receive(0, second, 2)
	m[1].Receive(1, other, 3)
	m[1].Receive(0, first, 1)
	m[0].Receive(0, first, 1)
	m[0].Receive(0, second, 2)
	if got := l.Stage(0); got.OutOfOrder != 1 {
		t.Errorf("%+v: one message overtook another for one receiver", got)
	}
}

func TestMessagesOutsideEveryWindowAreTrackedButBelongToNoStage(t *testing.T) {
	l, m := group(2)
	seq := m[0].Send(1, Unmeasured)
	if l.Outstanding() != 2 {
		t.Errorf("outstanding %d", l.Outstanding())
	}
	if got := m[1].Receive(0, seq, 1); got.Outcome != Received || got.Stage != Unmeasured {
		t.Errorf("%+v", got)
	}
	if got := l.Stage(0); got != (Counts{}) {
		t.Errorf("%+v", got)
	}
}

func TestForgettingKeepsWhatIsOwedAndKnowsLateDuplicates(t *testing.T) {
	l, m := group(2)
	for i := range 1000 {
		due := time.Duration(i) * time.Second
		seq := m[0].Send(due, 0)
		m[0].Receive(0, seq, due)
		if i != 500 {
			m[1].Receive(0, seq, due)
		}
	}
	if kept := m[0].sent(); kept > 700 || m[0].base > 500 {
		t.Errorf("kept %d from %d: message 500 is still owed, the ones before it are not", kept, m[0].base)
	}
	if got := m[1].Receive(0, 3, 3*time.Second).Outcome; got != Duplicate {
		t.Errorf("a duplicate of a forgotten message: %v", got)
	}
	if got := m[1].Receive(0, 500, 500*time.Second).Outcome; got != Received {
		t.Errorf("the one that was still owed: %v", got)
	}
	if got := l.Stage(0); got.Lost() != 0 || l.Outstanding() != 0 {
		t.Errorf("%+v", got)
	}
	if got := l.Seconds(); len(got) != 1000 ||
		slices.ContainsFunc(got, func(s Owing) bool { return s != Owing{Expected: 2} }) {
		t.Errorf("by the second, what was forgotten too: %+v", got)
	}
}

// A group of more than 64 members takes several words a message; a plain map is the model.
// pair is a message and one of its receivers.
type pair struct {
	sender, receiver int
	seq              uint32
}

func (p pair) due() time.Duration { return time.Duration(p.seq) * 300 * time.Millisecond }

// secondsOf counts the pairs by the second in which their message was due.
func secondsOf(owed, got map[pair]bool) (seconds [1000]Owing) {
	for p := range owed {
		second := &seconds[p.due()/time.Second]
		second.Expected++
		if !got[p] {
			second.Lost++
		}
	}
	return seconds
}

func TestTheLedgerAgreesWithAPlainModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const size = 100
	l := New(1)
	g := l.NewGroup(size, Terms{})
	members := make([]*Member, size)
	joined := map[int]bool{}
	for slot := range members {
		members[slot] = g.Place(slot)
	}
	owed, got := map[pair]bool{}, map[pair]bool{}
	sent := map[int]uint32{}
	for range 20_000 {
		slot, other := random.IntN(size), random.IntN(size)
		switch action := random.IntN(100); {
		case action < 5 && !joined[slot]:
			members[slot].Join()
			joined[slot] = true
		case action < 6 && joined[slot]:
			members[slot].Leave()
			delete(joined, slot)
			for p := range owed {
				if p.receiver == slot && !got[p] {
					delete(owed, p)
				}
			}
		case action < 20 && joined[slot]:
			seq := members[slot].Send(pair{seq: sent[slot]}.due(), 0)
			sent[slot]++
			for receiver := range joined {
				owed[pair{slot, receiver, seq}] = true
			}
		case sent[other] > 0:
			p := pair{other, slot, uint32(random.IntN(int(sent[other])))}
			want := Received
			if got[p] {
				want = Duplicate
			} else if !owed[p] {
				want = Ineligible
			}
			if receipt := members[slot].Receive(other, p.seq, p.due()); receipt.Outcome != want {
				t.Fatalf("%+v: %v, expected %v", p, receipt.Outcome, want)
			}
			if want == Received {
				got[p] = true
			}
		}
	}
	counts := l.Stage(0)
	if counts.Expected != int64(len(owed)) || counts.Received != int64(len(got)) || l.Outstanding() != counts.Lost() {
		t.Errorf("%+v, outstanding %d; expected %d owed and %d received", counts, l.Outstanding(), len(owed), len(got))
	}
	found, want := l.Seconds(), secondsOf(owed, got)
	if !slices.Equal(found, want[:len(found)]) || len(found) < 3 {
		t.Errorf("by the second: %+v, expected %+v", found, want[:len(found)])
	}
}

func TestALateDuplicateCountsInTheStageOfItsMessageThoughThatWasForgotten(t *testing.T) {
	l := New(2)
	g := l.NewGroup(1, Terms{})
	m := g.Place(0)
	m.Join()
	stageOf := func(second int) int { // 0 to 9 s are measured in the first stage, 20 to 29 s in the second
		switch {
		case second < 10:
			return 0
		case second >= 20 && second < 30:
			return 1
		}
		return Unmeasured
	}
	for second := range 200 {
		due := time.Duration(second) * time.Second
		if m.Receive(0, m.Send(due, stageOf(second)), due).Outcome != Received {
			t.Fatalf("second %d was not received", second)
		}
	}
	if m.base < 30 {
		t.Fatalf("only %d messages were forgotten, so nothing is tested", m.base)
	}
	for _, second := range []int{0, 9, 15, 20, 21, 29} {
		got := m.Receive(0, uint32(second), time.Duration(second)*time.Second)
		if got.Outcome != Duplicate || got.Stage != stageOf(second) {
			t.Errorf("second %d: %+v, expected a duplicate in stage %d", second, got, stageOf(second))
		}
	}
	for stage, want := range map[int]int64{0: 2, 1: 3, Unmeasured: 1} {
		if got := l.Stage(stage).Duplicate; got != want {
			t.Errorf("stage %d: %d duplicates, expected %d", stage, got, want)
		}
	}
}

func TestWhatWasSentBeforeAMemberPartedStaysOwedAndWhatIsSentMeanwhileIsNot(t *testing.T) {
	l := New(1)
	g := l.NewGroup(2, Terms{})
	sender, away := g.Place(0), g.Place(1)
	sender.Join()
	away.Join()
	before := sender.Send(1*time.Second, 0)
	away.Part()
	meanwhile := sender.Send(2*time.Second, 0)
	away.Part() // once is enough
	away.Join()
	after := sender.Send(3*time.Second, 0)
	if got := l.Stage(0).Expected; got != 5 || g.Count() != 2 {
		t.Errorf("%d receipts owed to %d members, expected 2 + 1 + 2", got, g.Count())
	}
	if got := away.Receive(0, meanwhile, 2*time.Second).Outcome; got != Ineligible {
		t.Errorf("what was sent meanwhile: %v", got)
	}
	if got := away.Receive(0, after, 3*time.Second).Outcome; got != Received {
		t.Errorf("what was sent after: %v", got)
	}
	if got := away.Receive(0, before, 1*time.Second).Outcome; got != Received {
		t.Errorf("what was under way: %v", got)
	}
}

func TestMissingTellsOfOneStageAndOfWhatWasDueSince(t *testing.T) {
	l := New(2)
	g := l.NewGroup(2, Terms{})
	sender, other := g.Place(0), g.Place(1)
	sender.Join()
	other.Join()
	for second, stage := range []int{0, 1, 1, 1, Unmeasured} {
		due := time.Duration(second) * time.Second
		seq := sender.Send(due, stage)
		sender.Receive(0, seq, due)
		if second == 3 {
			other.Receive(0, seq, due)
		}
	}
	if receipts, last := l.Missing(1, 0); receipts != 2 || last != 2*time.Second {
		t.Errorf("%d missing, the last of %s", receipts, last)
	}
	if receipts, last := l.Missing(1, 2*time.Second); receipts != 1 || last != 2*time.Second {
		t.Errorf("since 2 s: %d missing, the last of %s", receipts, last)
	}
	if receipts, last := l.Missing(1, 3*time.Second); receipts != 0 || last != 0 {
		t.Errorf("since 3 s: %d missing, the last of %s", receipts, last)
	}
}

func TestAReceiptWithoutATimeIsBookedByItsNumber(t *testing.T) {
	l := New(1)
	g := l.NewGroup(1, Terms{})
	m := g.Place(0)
	m.Join()
	seq := m.Send(3*time.Second, 0)
	if got := m.Receive(0, seq+1, Undated); got.Outcome != Unknown {
		t.Errorf("a message that was not sent: %+v", got)
	}
	if got := m.Receive(0, seq, Undated); got.Outcome != Received || got.Due != 3*time.Second || !got.Complete {
		t.Errorf("%+v, expected what was due at 3 s", got)
	}
	if got := m.Receive(0, seq, Undated); got.Outcome != Duplicate {
		t.Errorf("the same again: %+v", got)
	}
}
