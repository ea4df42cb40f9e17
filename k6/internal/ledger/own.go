package ledger

import (
	"slices"
	"time"
)

// Own is the account of one client's exchanges that owe receipts to the client itself: a request its response, a stream
// its events. One is open at a time. Own fits into one cache line.
type Own struct {
	ledger   *Ledger
	received []uint64 // bit per receipt; unused as long as they came in order
	due      time.Duration
	owed     int32 // receipts owed, received or not
	came     int32 // receipts received
	highest  int32 // highest index received; -1 for none
	stage    int32
	open     bool
}

// NewOwn makes the account of one client.
func (l *Ledger) NewOwn() *Own {
	o := &Own{ledger: l}
	l.owns = append(l.owns, o)
	return o
}

// Open reports whether an exchange is open.
func (o *Own) Open() bool { return o.open }

// Due returns when the open exchange was due.
func (o *Own) Due() time.Duration { return o.due }

// Begin records an exchange that was due then, is being sent now, and owes that many receipts. None may be open.
func (o *Own) Begin(due time.Duration, stage, receipts int) {
	o.open, o.due, o.stage, o.owed, o.came, o.highest = true, due, int32(stage), int32(receipts), 0, -1
	counts := o.ledger.book(due, stage, receipts)
	counts.Sent++
	o.ledger.outstanding += int64(receipts)
}

// Unsent records an exchange that was due then and could not be sent: its receipts are lost.
func (o *Own) Unsent(due time.Duration, stage, receipts int) {
	counts := o.ledger.book(due, stage, receipts)
	counts.Unsent++
	o.ledger.second(due).Lost += int64(receipts)
}

// Receive records receipt number index, from 0, of the open exchange.
func (o *Own) Receive(index int) Receipt {
	if !o.open || index < 0 || index >= int(o.owed) {
		return Receipt{Outcome: Unknown, Stage: Unmeasured}
	}
	receipt := Receipt{Due: o.due, Stage: int(o.stage)}
	counts := &o.ledger.stages[o.stage+1]
	if o.has(index) {
		counts.Duplicate++
		receipt.Outcome = Duplicate
		return receipt
	}
	if index != int(o.came) || !o.inOrder() {
		o.note(index)
	}
	if int32(index) < o.highest {
		counts.OutOfOrder++
	}
	o.highest = max(o.highest, int32(index))
	o.came++
	counts.Received++
	o.ledger.outstanding--
	receipt.First, receipt.Complete = o.came == 1, o.came == o.owed
	return receipt
}

// inOrder reports whether all receipts up to the highest have come.
func (o *Own) inOrder() bool { return o.came == o.highest+1 }

// has reports whether a receipt has already come.
func (o *Own) has(index int) bool {
	if o.inOrder() {
		return index < int(o.came)
	}
	return o.received[index/64]&(1<<(index%64)) != 0
}

// note marks a receipt that leaves a gap or comes out of order. If the receipts before it came in order, it marks
// these, too.
func (o *Own) note(index int) {
	if o.inOrder() {
		o.received = slices.Grow(o.received[:0], int(o.owed+63)/64)[:(o.owed+63)/64]
		clear(o.received)
		for before := range int(o.came) {
			o.received[before/64] |= 1 << (before % 64)
		}
	}
	o.received[index/64] |= 1 << (index % 64)
}

// End closes the open exchange. Receipts that have not arrived are lost.
func (o *Own) End() {
	if !o.open {
		return
	}
	o.open = false
	missing := int64(o.owed - o.came)
	o.ledger.outstanding -= missing
	o.ledger.second(o.due).Lost += missing
}

// book counts an exchange that was due.
func (l *Ledger) book(due time.Duration, stage, receipts int) *Counts {
	counts := &l.stages[stage+1]
	counts.Due++
	counts.Expected += int64(receipts)
	l.second(due).Expected += int64(receipts)
	return counts
}
