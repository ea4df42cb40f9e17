package socketio

import "fmt"

// remembered is the number of events whose acknowledgement the client tracks.
const remembered = 64

// Acks are the acknowledgements that a client waits for. The zero value waits for none.
type Acks struct {
	next    int64
	waiting uint64 // bit n belongs to the event next-1-n
}

// Ask returns the id of an event that requests an acknowledgement.
func (a *Acks) Ask() int64 {
	id := a.next
	a.next++
	a.waiting = a.waiting<<1 | 1
	return id
}

// Answered records an acknowledgement. An error says why none with this id can come.
func (a *Acks) Answered(id int64) error {
	age := a.next - 1 - id
	switch {
	case id < 0 || age < 0:
		return fmt.Errorf("an acknowledgement of event %d, which asked for none", id)
	case age >= remembered:
		return fmt.Errorf("an acknowledgement of event %d, after %d later ones", id, age)
	case a.waiting>>age&1 == 0:
		return fmt.Errorf("a second acknowledgement of event %d", id)
	}
	a.waiting &^= 1 << age
	return nil
}
