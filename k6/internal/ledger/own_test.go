package ledger

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestReceiptsOfAnExchangeAreEachCountedOnce(t *testing.T) {
	l := New(1)
	o := l.NewOwn()
	o.Begin(time.Second, 0, 70)
	for _, index := range []int{0, 1, 3, 2, 3} {
		o.Receive(index)
	}
	for _, index := range []int{-1, 70} {
		if got := o.Receive(index); got.Outcome != Unknown {
			t.Errorf("receipt %d: %+v", index, got)
		}
	}
	if got := o.Receive(69); got.First || got.Complete || got.Due != time.Second || got.Stage != 0 {
		t.Errorf("receipt 69: %+v", got)
	}
	if l.Outstanding() != 65 {
		t.Errorf("%d outstanding", l.Outstanding())
	}
	o.End()
	want := Counts{Due: 1, Sent: 1, Expected: 70, Received: 5, Duplicate: 1, OutOfOrder: 1}
	if got := l.Stage(0); got != want || got.Lost() != 65 || l.Outstanding() != 0 {
		t.Errorf("%+v, %d lost, %d outstanding", got, got.Lost(), l.Outstanding())
	}
	if got := l.Seconds()[1]; got != (Owing{70, 65}) {
		t.Errorf("%+v", got)
	}
}

func TestReceiptsInEveryOrderAgreeWithAPlainModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		l := New(1)
		o := l.NewOwn()
		owed := 1 + random.IntN(150)
		o.Begin(0, 0, owed)
		came, highest, want := map[int]bool{}, -1, Counts{Due: 1, Sent: 1, Expected: int64(owed)}
		for index := 0; index < owed; index++ {
			at := index
			if random.IntN(5) == 0 { // otherwise in order
				at = random.IntN(min(owed, index+3))
				index -= random.IntN(2)
			}
			switch {
			case came[at]:
				want.Duplicate++
			case at < highest:
				want.OutOfOrder++
			}
			came[at], highest = true, max(highest, at)
			want.Received = int64(len(came))
			if got := o.Receive(at); got.Complete != (len(came) == owed && got.Outcome == Received) {
				t.Fatalf("%d of %d: %+v", len(came), owed, got)
			}
			if got := l.Stage(0); got != want {
				t.Fatalf("%+v, expected %+v", got, want)
			}
		}
	}
}

func TestTheFirstAndTheLastReceiptAreTold(t *testing.T) {
	o := New(1).NewOwn()
	for range 2 { // the next exchange starts afresh
		o.Begin(0, 0, 2)
		if got := o.Receive(1); !got.First || got.Complete {
			t.Errorf("first: %+v", got)
		}
		if got := o.Receive(0); got.First || !got.Complete {
			t.Errorf("last: %+v", got)
		}
		o.End()
		if got := o.Receive(0); got.Outcome != Unknown || o.Open() {
			t.Errorf("after the end: %+v", got)
		}
	}
}

func TestWhatIsOpenOrUnsentWhenALedgerIsGivenUpIsLost(t *testing.T) {
	l := New(1)
	open, unsent := l.NewOwn(), l.NewOwn()
	open.Begin(0, 0, 3)
	open.Receive(0)
	unsent.Unsent(time.Second, 0, 3)
	for range 2 {
		if got := l.Seconds(); got[0] != (Owing{3, 2}) || got[1] != (Owing{3, 3}) {
			t.Errorf("%+v", got)
		}
		l.GiveUp()
		open.End() // too late to matter
	}
	if got := l.Stage(0); got.Due != 2 || got.Sent != 1 || got.Unsent != 1 || got.Lost() != 5 || l.Outstanding() != 0 {
		t.Errorf("%+v, %d lost, %d outstanding", got, got.Lost(), l.Outstanding())
	}
}
