package declared

// An id combines a client and a message: client 42 sends 42000000000, 42000000001 and so on. JavaScript reads numbers
// up to 2^53 exactly, which is the last message of client 9,007,198.
const (
	perClient = 1_000_000_000
	perPart   = 1_000_000
	// MostParts is how many generators can share a load.
	MostParts = 9
)

// Number returns the number of a client of a part of the load. It is unique over all parts.
func Number(part, client int) int64 { return int64(part)*perPart + int64(client) }

// ID returns the id of a message.
func ID(number int64, seq uint32) int64 { return number*perClient + int64(seq) }

// Sender returns the client of a part that sent the message with an id, and the message's number. If a client of
// another part sent the message, the result is not a client of this part.
func Sender(id int64, part int) (client int, seq uint32) {
	return int(id/perClient) - part*perPart, uint32(id % perClient)
}

// Writer writes the messages of one client.
type Writer struct {
	protocol *Protocol
	own      Values // Group and Client
	buf      []byte
}

// NewWriter makes a writer for a client.
func (p *Protocol) NewWriter(own Values) Writer { return Writer{protocol: p, own: own} }

// Open returns what a client sends in a step of the opening; nothing if the step sends nothing.
func (w *Writer) Open(number int) []byte { return w.step(&w.protocol.opening[number]) }

// Steps returns how many steps the opening has.
func (p *Protocol) Steps() int { return len(p.opening) }

// Waits reports whether the server acknowledges a step of the opening.
func (p *Protocol) Waits(number int) bool { return p.opening[number].acknowledged != nil }

// Join returns the request for membership; nothing if there is none.
func (w *Writer) Join() []byte { return w.step(w.protocol.join) }

// Joins reports whether the client is a member as soon as it has sent the join.
func (p *Protocol) Joins() bool { return p.join == nil || p.join.acknowledged == nil }

// Leave returns what a member sends before it closes the connection.
func (w *Writer) Leave() []byte { return w.write(w.protocol.leave) }

// Alive returns what a member sends to keep its connection alive.
func (w *Writer) Alive() []byte { return w.write(w.protocol.alive) }

// Answer returns the answer to a message that Asked.
func (w *Writer) Answer() []byte { return w.write(w.protocol.aliveAnswer) }

// Message appends a message; its time is in microseconds.
func (w *Writer) Message(buf []byte, seq uint32, time int64) []byte {
	v := w.own.With(seq, time)
	return w.protocol.send.append(buf, &v)
}

// With returns the values of a client's message; its time is in microseconds.
func (v Values) With(seq uint32, time int64) Values {
	v.ID, v.Time = ID(v.Client, seq), time
	return v
}

func (w *Writer) step(s *step) []byte {
	if s == nil {
		return nil
	}
	return w.write(s.send)
}

// write fills in a template; the bytes are valid until the next call.
func (w *Writer) write(t template) []byte {
	w.buf = t.append(w.buf[:0], &w.own)
	return w.buf
}
