package declared

// How an id is made of a client and a message: client 42 sends 42000000000, 42000000001 and so on. JavaScript reads
// numbers up to 2^53 exactly, which is the last message of client 9,007,198.
const (
	perClient = 1_000_000_000
	perPart   = 1_000_000
	// MostParts is how many generators can share a load.
	MostParts = 9
)

// Number is the number of a client of a part of the load, which no client of another part has.
func Number(part, client int) int64 { return int64(part)*perPart + int64(client) }

// ID is the id of a message.
func ID(number int64, seq uint32) int64 { return number*perClient + int64(seq) }

// Sender is the client of a part that sent the message with an id, and the message's number. Of another part it is no
// client of this one.
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

// Open is what a client sends in a step of the opening; nothing where that is nothing.
func (w *Writer) Open(number int) []byte { return w.step(&w.protocol.opening[number]) }

// Steps is how many steps the opening has.
func (p *Protocol) Steps() int { return len(p.opening) }

// Waits tells whether the server acknowledges a step of the opening.
func (p *Protocol) Waits(number int) bool { return p.opening[number].acknowledged != nil }

// Join is what asks for membership; nothing where that is nothing.
func (w *Writer) Join() []byte { return w.step(w.protocol.join) }

// Joins tells whether the client is a member as soon as it has sent that.
func (p *Protocol) Joins() bool { return p.join == nil || p.join.acknowledged == nil }

// Leave is what a member sends before it closes the connection.
func (w *Writer) Leave() []byte { return w.write(w.protocol.leave) }

// Alive is what a member sends so that its connection stays.
func (w *Writer) Alive() []byte { return w.write(w.protocol.alive) }

// Answer answers what Asked.
func (w *Writer) Answer() []byte { return w.write(w.protocol.aliveAnswer) }

// Message appends a message; its time is in microseconds.
func (w *Writer) Message(buf []byte, seq uint32, time int64) []byte {
	v := w.own.With(seq, time)
	return w.protocol.send.append(buf, &v)
}

// With are the values of a client's message; its time is in microseconds.
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

// write writes a template; the bytes hold until the next call.
func (w *Writer) write(t template) []byte {
	w.buf = t.append(w.buf[:0], &w.own)
	return w.buf
}
